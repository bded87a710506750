"""Templates of an untrusted configuration: none can exhaust the machine or block a command."""

import json
import os
import shutil
import signal
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from balrog_rag.agents.prompts import Prompts, sandbox
from balrog_rag.cli import episode, view
from balrog_rag.cli.main import main
from balrog_rag.config.frozen import config_digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.run_folder import journals
from tests.run.support import running, scripted
from tests.support import PATIENCE, edit_journal, evaluate

LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
CALLS = "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(40) }}"
"""Without a loop, so that only the time limit ends it."""
BOMBS = {
    LOOPS: "loops more than 100,000 times",
    "{% for a in range(90) %}{{ 'x' * 20000 }}{% endfor %}": "makes more than 1,000,000 characters",
    "{{ 'x' * 3000000000 }}": "needs more than 1024 MB of memory",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "RecursionError",
    "{{" + "(" * 5000 + "1" + ")" * 5000 + "}}": "RecursionError",
    CALLS: "takes more than 1 s of processor time",
    "x" * 200_001: "has 200,001 characters; use at most 200,000",
    "{{ ''.__class__.__mro__ }}": "is unsafe",
}


def refusal(prompts: Prompts) -> str:
    try:
        prompts.check([])
        prompts.render("query", asked=[], examples=1)
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("bomb", BOMBS, ids=[what.replace(" ", "-") for what in BOMBS.values()])
def test_a_template_beyond_a_limit_is_one_line(bomb: str) -> None:
    prompts = Prompts({"query": bomb})
    said = refusal(prompts)
    assert said.startswith(f"agent.prompts.query: {BOMBS[bomb].split(',')[0]}") or BOMBS[bomb] in said
    assert "\n" not in said
    assert Prompts({"query": "{{ examples }}"}).render("query", examples=1) == "1"  # others go on


def test_a_template_that_is_ended_by_its_time_costs_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = CALLS + "again"
    with pytest.raises(sandbox.TemplateRefused, match="processor time"):
        sandbox.render(bomb, {})
    monkeypatch.setattr(sandbox._process, "_running", lambda: pytest.fail("was started again"))
    with pytest.raises(sandbox.TemplateRefused, match="processor time"):
        sandbox.render(bomb, {})


def test_listing_the_values_of_a_template_computes_nothing_here() -> None:
    before = psutil.Process().memory_info().rss
    assert sandbox.wants("{{ advice }}{{ 'x' * 3000000000 }}") == ["advice"]
    assert psutil.Process().memory_info().rss - before < 200 << 20


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in asked %}{{ loop.index }} of {{ loop.length }}: {{ a }}"
        "{% if not loop.last %}, {% endif %}{% else %}none{% endfor %}",
        "{% for name, says in table.items() if says %}\n  {{ name | upper }}: {{ says }}\n{% endfor %}\n",
        "{% set n = examples + 1 %}{{ n }} {{ asked | join(', ') }} {{ asked[0] }} {{ no is defined }}\n\n",
        "{{ lone }} é 漢 {{ nothing }} {{ share }}",
    ],
)
def test_a_template_within_the_limits_is_rendered_as_this_packages_own(text: str) -> None:
    values = {
        "asked": ["newt", "jackal"], "table": {"kick": "a door", "pray": "", "eat": "food"}, "examples": 3,
        "lone": "\ud800", "nothing": None, "share": 0.5,
    }  # fmt: skip
    assert Prompts({"query": text}).render("query", **values) == Prompts(own={"query": text}).render(
        "query", **values
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one short episode."""
    place = tmp_path_factory.mktemp("bombs")
    words = [
        "agent=naive",
        "env=corridor",
        "env.episodes=1",
        "limits.steps=2",
        "runner.log=none",
        "run.name=r",
    ]
    done = evaluate(*words, cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "results/r"


def bombed(run: Path, place: Path, bomb: str) -> Path:
    """A malicious run folder: a template in its configuration and its journal exhausts resources."""
    theirs = shutil.copytree(run, place / "theirs")
    config = json.loads((theirs / "config.json").read_text())["config"]
    config["agent"]["prompts"] = {"answer_naive": bomb}
    digest = config_digest(config)
    (theirs / "config.json").write_text(json.dumps({"digest": digest, "config": config}))

    def changed(header):
        header["spec"]["player"]["agent"]["prompts"] = {"answer_naive": bomb}
        header["config_digest"] = digest
        header["spec_digest"] = msgspec.convert(header["spec"], EpisodeSpec).digest

    edit_journal(journals(theirs)[0], "header", changed)
    return theirs


@pytest.mark.parametrize("bomb", [LOOPS, CALLS, "{{ 'x' * 3000000000 }}"], ids=["loops", "calls", "memory"])
def test_a_bomb_in_another_persons_folder_ends_no_command(
    played: Path, tmp_path: Path, bomb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = bombed(played, tmp_path, bomb)
    what = f"agent.prompts.answer_naive: {BOMBS[bomb].split(',')[0]}"
    assert episode.main(["verify", str(run)]) == 1
    assert what in capsys.readouterr().out
    assert episode.main(["show", str(journals(run)[0])]) != 0
    assert what in capsys.readouterr().err
    view.main([str(run), "--out", str(tmp_path / "view.html")])
    path = journals(run)[0]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    capsys.readouterr()
    assert main([f"resume={run}", "runner.log=none"]) != 0
    assert what in capsys.readouterr().err


def test_a_run_that_renders_costly_templates_still_hears_sigterm(tmp_path: Path) -> None:
    slow = "{% for a in range(90000) %}{{ a ~ a }}{% endfor %}"
    words = [f"agent.prompts.answer_naive='{slow}'", "agent=naive", "env=corridor", "limits.steps=500"]
    words += ["env.episodes=40", "runner.concurrency=20", "run.name=r", "runner.log=none"]
    with running(tmp_path, *scripted(0.01), *words) as process:
        while not journals(tmp_path / "results/r"):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 128 + signal.SIGTERM
