"""The pages about agents are true."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from balrog_rag.agents import answers
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.groups import group_options
from balrog_rag.config.schema import documented_keys
from balrog_rag.contracts import registry
from tests.agents.support import agent_config

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/agents.md").read_text()
OPTIONS = (ROOT / "docs/reference/agent-options.md").read_text()
KEYS = [key for key, _ in documented_keys(AgentConfig) if key not in ("name", "prompts")]


def documented() -> dict[str, str]:
    """Every key of the table of switches, with its documented default."""
    rows = re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", OPTIONS.partition("## Every option")[2], re.MULTILINE)
    found = {}
    for names, defaults in rows:
        keys = re.findall(r"`([^`]+)`", names)
        values = [value.strip(" `") for value in defaults.split(",")]
        found.update(
            zip(keys, values if len(values) == len(keys) else [defaults.strip()] * len(keys), strict=True)
        )
    return found


@pytest.mark.parametrize("key", KEYS)
def test_every_switch_stands_in_the_table(key: str) -> None:
    assert key in documented()


@pytest.mark.parametrize("key", KEYS)
def test_the_table_gives_the_default_of_conf(key: str) -> None:
    value: object = asdict(agent_config("naive"))
    for part in key.split("."):
        assert isinstance(value, dict)
        value = value[part]
    said = documented()[key]
    if isinstance(value, list) and value:
        assert said == ", ".join(f"`{item}`" for item in value)
        return
    words = {"True": "true", "False": "false", "None": "null", "[]": "none", "{}": "none"}
    expected = words.get(str(value), str(value))
    assert expected in re.split(r"[ `;]+", said)


def test_every_agent_is_described() -> None:
    table = PAGE.partition("## The agents")[2].partition("## ")[0]
    assert all(f"`{option}`" in table for option in group_options()["agent"])
    assert set(registry.agents.names()) <= set(group_options()["agent"])


def test_the_agent_of_the_page_is_the_example_and_short() -> None:
    page = (ROOT / "docs/how-to/extend-with-an-agent.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    example = (ROOT / "examples/extend_agent.py").read_text()
    assert code.partition("@")[2] in example
    assert len(code.splitlines()) < 40
    styles = {name for name, value in vars(answers).items() if isinstance(value, answers.Style)}
    assert set(re.findall(r"^ *\| `([A-Z_]+)` \|", page, re.MULTILINE)) == styles
