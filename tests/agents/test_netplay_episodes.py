"""Whole episodes of NetPlay's agent: journaled, verified, resumed in the middle of a skill."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.replay import verify

SKILLS = ("agent=netplay", "env.tasks=[nle/NetHackChallenge-v0]", "env.actions=skills")


def played(
    specs: Callable, player: Callable, tmp_path: Path, steps: int, *words: str, episodes: int = 1
) -> list[Path]:
    """Journals of episodes that were played to the end."""
    paths = []
    for spec in specs(*SKILLS, *words, steps=steps, episodes=episodes):
        asyncio.run(player()(spec))
        paths.append(journal_path(tmp_path / "run", spec.episode))
    return paths


def test_an_episode_is_verified_and_goes_on_after_any_line(
    specs: Callable, player: Callable, tmp_path: Path
) -> None:
    (path,) = played(specs, player, tmp_path, 14, "run.seed=3")
    whole = path.read_bytes()
    steps = journal.read(path).steps
    assert any(step.stopped.startswith("interrupted") for step in steps)
    assert asyncio.run(verify(path)).complete
    lines = whole.splitlines(keepends=True)
    (spec,) = specs(*SKILLS, "run.seed=3", steps=14)
    for kept in (len(lines) // 3, len(lines) // 2):
        path.write_bytes(b"".join(lines[:kept]) + lines[kept][:9])
        asyncio.run(player()(spec))
        assert journal.read(path).steps == steps
        assert asyncio.run(verify(path)).complete


@pytest.mark.slow
def test_twenty_full_games_by_a_scripted_model(specs: Callable, player: Callable, tmp_path: Path) -> None:
    paths = played(specs, player, tmp_path, 400, "env.character=val-hum-neu-fem", episodes=20)
    assert len(paths) == 20
    for path in paths:
        read = journal.read(path)
        assert read.end is not None
        assert all(step.stopped or not step.valid or step.taken == "nothing" for step in read.steps[:-1])
        assert asyncio.run(verify(path)).complete
