"""What is part of an episode's identity, and what is not."""

import msgspec
import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.schema import KnowledgeConfig, ModelConfig
from balrog_rag.contracts.data import CONNECTION_KEYS
from balrog_rag.episode.spec import EpisodeSpec, Fork, PlayerSpec
from balrog_rag.run.plan import plan
from balrog_rag.run.services import player_spec

SECTIONS = {"model": ModelConfig, "knowledge": KnowledgeConfig}


@pytest.fixture(scope="module")
def spec() -> EpisodeSpec:
    config = compose(["agent=naive_rag", "model=scripted", "env.episodes=1"])
    (spec,) = plan(config, player_spec(config))
    return msgspec.structs.replace(spec, forks=(Fork(3, spec.player),))


def changed(player: PlayerSpec, section: str, name: str) -> PlayerSpec:
    return msgspec.structs.replace(player, **{section: {**getattr(player, section), name: "another"}})


@pytest.mark.parametrize("section", SECTIONS)
def test_a_player_may_move_but_not_change(spec: EpisodeSpec, section: str) -> None:
    names = set(SECTIONS[section].__dataclass_fields__)
    assert names >= set(CONNECTION_KEYS[section])
    for name in names:
        other = spec.with_last_player(changed(spec.player, section, name))
        assert other.player == spec.player
        assert other.forks[0].at == 3
        assert (other.digest == spec.digest) == (name in CONNECTION_KEYS[section]), name
        first = msgspec.structs.replace(spec, player=changed(spec.player, section, name), forks=())
        assert (first.digest == msgspec.structs.replace(spec, forks=()).digest) == (
            name in CONNECTION_KEYS[section]
        )


def test_without_a_fork_the_only_player_is_carried_on(spec: EpisodeSpec) -> None:
    plain = msgspec.structs.replace(spec, forks=())
    player = changed(spec.player, "model", "base_url")
    assert plain.with_last_player(player).player == player
