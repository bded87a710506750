"""`agent=FILE.py:CLASS`: a class of the user's plays, and nobody else's file is run by a replay."""

import re
from pathlib import Path

import pytest

from balrog_rag import agents
from balrog_rag.cli import verbs
from balrog_rag.config.compose import compose
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.run_folder import journals
from balrog_rag.results.run_seal import MARK

MINE = """
from pathlib import Path
from balrog_rag.agents.naive import Naive
from balrog_rag.contracts.data import Decision

with Path({log!r}).open("a") as log:
    log.write("imported\\n")

class Still:
    asks_model = False
    def __init__(self, config, view, llm, knowledge):
        self.view = view
    async def act(self, observation):
        return Decision(self.view.default_action)
    def recall(self, observation, decision):
        pass

class Asking(Naive):
    own_prompts = {{"note": "Your note", **Naive.own_prompts}}

class Wordless:
    asks_model = False

def act(observation):
    return 0
"""
SHORT = ("env=corridor", "env.episodes=1", "limits.steps=3", "runner.workers=1", "runner.log=none")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with agents, which records each import, in the current folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE.format(log=str(tmp_path / "imports")))
    return tmp_path / "mine.py"


def imports(mine: Path) -> int:
    log = mine.with_name("imports")
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_composing_reads_the_file_but_does_not_run_it(mine: Path) -> None:
    still, asking = (compose([f"agent=mine.py:{name}"]).agent for name in ("Still", "Asking"))
    assert (still.name, still.options["class_name"], still.options["path"]) == (
        "own_class",
        "Still",
        str(mine),
    )
    assert (agents.asks_model(still), agents.asks_model(asking)) == (False, True)
    assert compose(["agent=mine.py:act"]).agent.name == "policy"
    assert agents.resolve(still).options["digest"] is not None
    assert imports(mine) == 0


def test_a_class_has_prompts_of_its_own(mine: Path) -> None:
    """They can be replaced like those of a built-in agent, and a typo is refused."""
    prompts = {"agent.prompts.note=Mine": "", "agent.prompts.noet=Mine": "did you mean note"}
    for word, said in prompts.items():
        config = compose(["agent=mine.py:Asking", word]).agent
        if said:
            with pytest.raises(ConfigError, match=said):
                agents.resolve(config)
        else:
            assert agents.resolve(config).prompts == {"note": "Mine"}
    with pytest.raises(ConfigError, match="no such prompt"):
        agents.resolve(compose(["agent=mine.py:Still", "agent.prompts.nope=Mine"]).agent)
    assert imports(mine) == 0


def test_a_class_plays_and_verifies(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("Still", "Asking"):
        words = (f"agent=mine.py:{name}", "model=scripted", f"run.name={name}", *SHORT)
        assert verbs.main(["run", *words]) == 0, capsys.readouterr().err
        assert verbs.main(["verify", f"results/{name}"]) == 0
        assert capsys.readouterr().out.splitlines()[-1].startswith("equal\t3 steps")
    assert imports(mine) == 2  # once per class


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Wordless", r"mine\.py:Wordless: not a class with act\(observation\)"),
        ("Other", r"mine\.py:Other: the file defines no function or class of that name"),
    ],
)
def test_what_cannot_play_is_refused_before_a_folder_is_made(
    name: str, said: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verbs.main(["run", f"agent=mine.py:{name}", "env=corridor"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(said, line)
    assert not Path("results").exists()


def test_a_changed_file_is_refused(mine: Path) -> None:
    config = agents.resolve(compose(["agent=mine.py:Still"]).agent)
    mine.write_text(mine.read_text() + "# changed\n")
    with pytest.raises(ConfigError, match=r"is not the file that this run started with .*restore it"):
        agents.resolve(config)


@pytest.mark.parametrize("verb", ["show", "verify", "export", "resume", "fork"])
def test_nobody_elses_file_is_run(
    verb: str, mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder without this user's seal: replaying or continuing it must not import the file."""
    words = ("agent=mine.py:Still", "run.name=theirs", *SHORT)
    assert verbs.main(["run", *words]) == 0
    journal = str(journals(Path("results/theirs"))[0])
    (Path("results/theirs") / MARK).unlink()
    mine.write_text(mine.read_text().replace("imported", "imported again"))
    monkeypatch.setattr("balrog_rag.agents.own_class.settled", dict)  # even if its digest fitted
    before = imports(mine)
    given = {"verify": ["results/theirs"], "resume": ["results/theirs"]}.get(verb, [journal])
    given += ["--at", "1", "--out", "forked", "agent=random"] if verb == "fork" else []
    assert verbs.main([verb, *given]) != 0
    said = capsys.readouterr()
    assert "not made by you on this machine" in said.out + said.err
    assert "--trust" in said.out + said.err
    assert imports(mine) == before
