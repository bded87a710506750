"""Ablations: each tactic off in the same games, and a table of differences."""

from pathlib import Path

import pytest

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import run_folder
from balrog_rag.run.ablation import ablation_arms, switches_of
from tests.support import command

WORDS = ("agent=delver", "model=scripted", "env.tasks=[nle/NetHackChallenge-v0]", "limits.steps=150")


def test_every_tactic_has_an_arm_without_it() -> None:
    arms = ablation_arms(WORDS, 3)
    names = [each.name for each in switches_of("delver")]
    assert [arm.name for arm in arms] == ["all_on", *(f"no_{name}" for name in names)]
    assert arms[1].words == [*arms[0].words, f"agent.options.{names[0]}=false"]
    assert [arm.name for arm in ablation_arms(WORDS, 3, ["prayer"])] == ["all_on", "no_prayer"]


@pytest.mark.parametrize(
    ("words", "wanted", "said"),
    [
        (WORDS, ["preyer"], "did you mean prayer"),
        ((*WORDS, "env.episodes=3"), [], "use --games"),
        ((*WORDS, "agent.options.prayer=false"), [], "set for all arms"),
        (("agent=random", "model=scripted"), [], "no tactics that can be switched off; known: delver"),
        (("agent=naive", "model=scripted"), [], "no tactics that can be switched off"),
    ],
)
def test_what_cannot_be_ablated_is_refused(words: tuple[str, ...], wanted: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ablation_arms(words, 3, wanted)


def test_a_folder_that_is_not_an_ablation_is_refused(tmp_path: Path) -> None:
    done = command("balrog_rag", "ablate", "--table", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path}: ")
    done = command("balrog_rag", "ablate", "agent=delver", "--list", cwd=tmp_path)
    assert "prayer" in done.stdout


@pytest.mark.slow
def test_an_ablation_plays_the_same_games_and_prints_its_table(tmp_path: Path) -> None:
    words = ("--games", "6", "--switches", "meals,taming", "run.name=a", "runner.workers=1")
    done = command("balrog_rag", "ablate", *WORDS, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = done.stdout[done.stdout.index("all tactics:") :]
    assert [line.split()[0] for line in table.splitlines()[1:]] == ["off", "meals", "taming"]
    again = command("balrog_rag", "ablate", "--table", "results/a", cwd=tmp_path)
    assert again.stdout == table
    seeds = [
        sorted((line.split(",")[0], line.split(",")[6]) for line in path.read_text().splitlines()[1:])
        for path in sorted((tmp_path / "results" / "a").glob("*/episodes.csv"))
    ]
    assert len(seeds) == 3
    assert seeds[0] == seeds[1] == seeds[2]
    lose_a_game(tmp_path / "results/a/no_taming")
    partial = command("balrog_rag", "ablate", "--table", "results/a", cwd=tmp_path)
    assert [line.split()[0] for line in partial.stdout.splitlines()[1:]] == ["off", "meals"]
    resume = "resume with: balrog-rag resume results/a\n"
    assert partial.stderr == f"note: 1 of 2 arms left out, since they are not complete; {resume}"
    for arm, lacking in (("no_meals", "no arm but all_on is"), ("all_on", "all_on is not")):
        lose_a_game(tmp_path / "results/a" / arm)
        refused = command("balrog_rag", "ablate", "--table", "results/a", cwd=tmp_path)
        assert refused.returncode == 1
        assert refused.stderr == f"error: results/a: {lacking} complete; {resume}"


def lose_a_game(run: Path) -> None:
    """As if the run had been stopped before its last game."""
    run_folder.journals(run)[-1].unlink()
