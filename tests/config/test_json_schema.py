"""The schemas for editors accept every file of conf/ and refuse mistakes; the page lists every key."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from balrog_rag.cli.verbs import main
from balrog_rag.config.json_schema import json_schemas
from balrog_rag.config.schema import documented_keys

CONF = Path(__file__).parents[2] / "conf"
SCHEMAS = json_schemas()


def mistakes(name: str, content: object) -> list[str]:
    return [error.message for error in Draft7Validator(SCHEMAS[name]).iter_errors(content)]


def of_file(path: Path) -> str:
    """The name of a file's schema: its group's, or that of the whole."""
    group = path.relative_to(CONF).parts[0]
    return "config" if group not in SCHEMAS or "@package _global_" in path.read_text() else group


def test_the_schemas_are_themselves_correct() -> None:
    for schema in SCHEMAS.values():
        Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("path", sorted(CONF.rglob("*.yaml")), ids=lambda p: str(p.relative_to(CONF)))
def test_every_file_of_conf_is_accepted(path: Path) -> None:
    assert mistakes(of_file(path), yaml.safe_load(path.read_text())) == []


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("agent", {"max_text_histroy": 3}, "'max_text_histroy' was unexpected"),
        ("agent", {"max_text_history": -1}, "not valid under any"),
        ("agent", {"retrieval": {"query": "keywords"}}, "not valid under any"),
        ("env", {"tasks": "nle/NetHackChallenge-v0"}, "not valid under any"),
        ("config", {"limits": {"run": {"dollars": "five"}}}, "not valid under any"),
    ],
)
def test_mistakes_are_found(name: str, content: object, says: str) -> None:
    assert any(says in message for message in mistakes(name, content))


def test_the_command_writes_the_schemas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "schema", "--out", str(tmp_path / "schema")]) == 0
    assert {path.stem for path in (tmp_path / "schema").iterdir()} == set(SCHEMAS)
    assert json.loads((tmp_path / "schema/agent.json").read_text()) == SCHEMAS["agent"]


def test_the_reference_lists_every_key_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "reference"]) == 0
    page = capsys.readouterr().out
    assert [key for key, _ in documented_keys() if page.count(f"| `{key}` |") != 1] == []
