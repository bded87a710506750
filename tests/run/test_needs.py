"""What a run lacks on this machine, in one line each."""

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.run.needs import unmet


def test_a_cluster_has_its_own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["model=openai", "agent=naive", "env=corridor"]
    assert any("API key missing" in line for line in unmet(compose(words)))
    assert not any("API key missing" in line for line in unmet(compose([*words, "runner=ray"])))


def test_games_that_cannot_be_planned_are_one_line() -> None:
    config = compose(["agent=random", "env=corridor", "env.seeding=list", "env.seeds=[1]", "env.episodes=2"])
    assert unmet(config) == ["env.seeds: 1 seed for 2 episodes per task; list one each"]
