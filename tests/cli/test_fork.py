"""Forks as a user makes them: the past is kept, and another player continues."""

import json
import shutil
from pathlib import Path

import pytest

from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journals
from tests.support import command, evaluate, own_cache

SMALL = ("env.episodes=1", "env.tasks=[nle/NetHackChallenge-v0]", "limits.steps=8", "run.name=r")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    done = evaluate("agent=naive", *SMALL, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


def test_another_agent_plays_on_and_the_whole_is_verified(played: Path, tmp_path: Path) -> None:
    (path,) = journals(played)
    out = tmp_path / "f"
    done = command(
        "balrog_rag.episode", "fork", str(path), "--at", "5", "--out", str(out), "agent=cot", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (forked,) = journals(out)
    old, new = journal.read(path), journal.read(forked)
    assert new.steps[:5] == old.steps[:5]
    assert len(new.steps) == 8
    assert new.header is not None
    assert [fork.at for fork in new.header.spec.forks] == [5]
    done = command("balrog_rag.episode", "verify", str(out), cwd=tmp_path)
    assert done.stdout.startswith("equal\t8 steps")
    done = command("balrog_rag.eval", f"resume={out}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_programs_game_is_handed_to_a_model_and_back(tmp_path: Path) -> None:
    """In the middle of a burst; each of the three has its own steps, and the whole is verified."""
    words = ("agent=delver", "env.tasks=[nethackers/val-dwa-law-fem]", "env.seeding=list", "env.seeds=[0]")
    done = evaluate(*words, "env.episodes=1", "limits.steps=70", "run.name=r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    path, read = tmp_path / "results" / "r", []
    for at, agent, steps in ((33, "agent=robust_cot", 38), (38, "agent=delver", 70)):
        out = tmp_path / f"from_{at}"
        more = ("--out", str(out), agent, "model=scripted", f"limits.steps={steps}")
        done = command(
            "balrog_rag.episode", "fork", str(journals(path)[0]), "--at", str(at), *more, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        read.append(journal.read(journals(path)[0]))
        path = out
    first, second, whole = *read, journal.read(journals(path)[0])
    assert [fork.at for fork in whole.header.spec.forks] == [33, 38]
    assert (first.count, second.count, whole.count) == (70, 38, 70)
    keys = [key for step in first.steps for key in step.pressed]
    assert [key for step in whole.steps for key in step.pressed][:33] == keys[:33]
    assert [step.n for step in whole.steps if not step.pressed] == [*range(33, 38)]
    done = command("balrog_rag.episode", "verify", str(path), cwd=tmp_path)
    assert done.stdout.startswith("equal\t70 steps"), done.stdout


def test_a_bots_game_is_handed_to_a_model_with_skills_and_programs(tmp_path: Path) -> None:
    words = ("agent=delver", "env.tasks=[nethackers/val-dwa-law-fem]", "env.seeding=list", "env.seeds=[0]")
    done = evaluate(*words, "env.episodes=1", "limits.steps=40", "run.name=r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    path, out = journals(tmp_path / "results" / "r")[0], tmp_path / "f"
    more = ("agent=cot", "model=scripted", "env.actions=skills", "env.programs=[dig_down]", "limits.steps=35")
    fork = ("fork", str(path), "--at", "33", "--out", str(out))
    done = command("balrog_rag.episode", *fork, *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    old, new = journal.read(path), journal.read(journals(out)[0])
    assert new.header is not None
    assert new.header.spec.game.programs == ("dig_down",)
    keys = [[key for step in each.steps for key in step.pressed][:33] for each in (old, new)]
    assert keys[0] == keys[1]
    assert len(keys[1]) == 33
    assert [step.n for step in new.steps if not step.pressed] == [33, 34]
    done = command("balrog_rag.episode", "verify", str(out), cwd=tmp_path)
    assert done.stdout.startswith("equal\t35 steps"), done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["model.extra_headers.authorization=sk-proj-0123456789abcdefghij"], "looks like a secret"),
        (["env.character=val-dwa-law-fem"], "env.options.character: a fork cannot change the game"),
        (["env.programs=[dig_down]"], "env: step 0 was decided among the actions that the game had"),
        (["agent.name=naiv"], "unknown agent 'naiv'; did you mean naive"),
        (["knowledge.corpus=nowhere", "agent=robust_star_rag"], "nowhere: no such corpus"),
    ],
)
def test_a_fork_that_cannot_be_is_one_line_and_no_folder(
    played: Path, tmp_path: Path, words: list[str], says: str
) -> None:
    (path,) = journals(played)
    out = tmp_path / "f"
    done = command(
        "balrog_rag.episode", "fork", str(path), "--at", "5", "--out", str(out), *words, cwd=tmp_path
    )
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert says in line
    assert "sk-proj-0123456789" not in line
    assert not out.exists()


def test_a_run_freezes_what_its_corpus_holds(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "newt.md").write_text("# Newt\n\nA newt bites.\n")
    words = ("agent=robust_star_rag", *SMALL, "limits.steps=2", "env.episodes=2")
    words += (f"knowledge.corpus={pages}", "knowledge.index=bm25")
    cache = str(own_cache(tmp_path / "cache"))
    done = evaluate(*words, cwd=tmp_path, BALROG_RAG_CACHE=cache)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "results" / "r"
    frozen = json.loads((run / "config.json").read_text())["config"]["knowledge"]["corpus_digest"]
    path = journals(run)[0]
    header = journal.read(path).header
    assert header is not None
    assert header.spec.player.knowledge["corpus_digest"] == frozen
    path.unlink()
    (pages / "newt.md").write_text("# Newt\n\nA newt never bites.\n")
    done = command("balrog_rag.eval", f"resume={run}", cwd=tmp_path, BALROG_RAG_CACHE=cache)
    assert done.returncode == 1
    assert "contains other passages than when this run was started" in done.stderr
    assert not path.exists()
    shutil.rmtree(run)
    done = evaluate(*words, cwd=tmp_path, BALROG_RAG_CACHE=cache)
    assert json.loads((run / "config.json").read_text())["config"]["knowledge"]["corpus_digest"] != frozen
