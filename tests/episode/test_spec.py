"""What is part of an episode's identity, and what is not."""

import msgspec
import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.schema import KnowledgeConfig, ModelConfig
from balrog_rag.episode.spec import REACH, Cast, EpisodeSpec, Fork
from balrog_rag.run.plan import plan
from balrog_rag.run.services import cast_of

SECTIONS = {"model": ModelConfig, "knowledge": KnowledgeConfig}


@pytest.fixture(scope="module")
def spec() -> EpisodeSpec:
    config = compose(["agent=naive_rag", "model=scripted", "env.episodes=1"])
    (spec,) = plan(config, cast_of(config))
    return msgspec.structs.replace(spec, forks=(Fork(3, spec.cast),))


def changed(cast: Cast, section: str, name: str) -> Cast:
    return msgspec.structs.replace(cast, **{section: {**getattr(cast, section), name: "another"}})


@pytest.mark.parametrize("section", SECTIONS)
def test_a_cast_may_move_but_not_change(spec: EpisodeSpec, section: str) -> None:
    names = set(SECTIONS[section].__dataclass_fields__)
    assert names >= set(REACH[section])
    for name in names:
        other = spec.carried_on_by(changed(spec.cast, section, name))
        assert other.cast == spec.cast
        assert other.forks[0].at == 3
        assert (other.digest == spec.digest) == (name in REACH[section]), name
        first = msgspec.structs.replace(spec, cast=changed(spec.cast, section, name), forks=())
        assert (first.digest == msgspec.structs.replace(spec, forks=()).digest) == (name in REACH[section])


def test_without_a_fork_the_only_cast_is_carried_on(spec: EpisodeSpec) -> None:
    plain = msgspec.structs.replace(spec, forks=())
    cast = changed(spec.cast, "model", "base_url")
    assert plain.carried_on_by(cast).cast == cast
