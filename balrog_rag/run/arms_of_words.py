"""A named experiment is that experiment: what a run of it changes is written into its configuration."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from balrog_rag import agents, knowledge
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import CHANGEABLE_ON_RESUME, differing_keys, leaf_items, plain
from balrog_rag.config.preset_options import known_options
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.comparability import short
from balrog_rag.results.experiments import Experiment, ExperimentArm, find

FILLED_IN = ("run.experiment", "run.departures")
FREE = (*CHANGEABLE_ON_RESUME, "run.")
"""How the keys begin that are no part of an experiment: where, how fast and how long at most."""
FREE_WORDS = ("experiment=", "runner=", "model=", "model.name=", "model.backend=", "model.options.")
"""How other words begin with which every experiment may be played: by any model."""


def experiment_of(words: Sequence[str]) -> Experiment | None:
    """The experiment that the words name, if they name one that is described."""
    names = [word.partition("=")[2] for word in words if word.lstrip("+").startswith("experiment=")]
    return find(names[-1]) if names else None


class ResolvedArms(NamedTuple):
    """What words mean beside an experiment with arms."""

    arms: tuple[ExperimentArm, ...]
    """Those that are played; none: the words are an arm of their own."""
    said: tuple[str, ...] = ()
    """What is played otherwise than all arms with all words, a sentence each."""


WHO_PLAYS = ("agent", "model", "knowledge")
"""Sections by which an arm may be picked, or one of one's own set beside them."""


def meant(experiment: Experiment, words: Sequence[str]) -> ResolvedArms:
    """Which arms words pick: `agent=X` where every arm has an agent means those with X, or X alone."""
    arms, said = experiment.playable, []
    for key, word in _by_key(words).items():
        setting = [arm.name for arm in experiment.playable if key in _by_key(arm.overrides)]
        if not setting:
            continue
        if len(setting) < len(experiment.playable):
            have = "has its" if len(setting) == 1 else "have their"
            said.append(f"{word}: not used by {', '.join(setting)}, which {have} own {key}")
            continue
        if key.partition(".")[0] not in WHO_PLAYS:
            raise ConfigError(f"{word}: every arm of {experiment.name} has its own {key}; leave it out")
        having = tuple(arm for arm in arms if word in arm.overrides)
        if not having:
            said.append(f"{word}: no arm of {experiment.name} has it; it is played alone, in the same games")
        elif len(having) < len(arms):
            names = ", ".join(arm.name for arm in having)
            said.append(
                f"{word}: of {experiment.name} only {names} {'is' if len(having) == 1 else 'are'} played"
            )
        arms = having
    return ResolvedArms(arms, tuple(said))


def of_ones_own(experiment: Experiment, words: Sequence[str]) -> list[str]:
    """The words of an arm of one's own: what all the arms share comes first."""
    first, *others = (arm.overrides for arm in experiment.playable)
    shared = [word for word in first if all(word in other for other in others)]
    return [*(word for word in shared if _key(word) not in _by_key(words)), *words]


def varied(experiment: Experiment, words: Sequence[str]) -> list[str]:
    """The words whose keys every arm sets: what makes an arm one."""
    arms = [_by_key(arm.overrides) for arm in experiment.playable]
    return [word for key, word in _by_key(words).items() if all(key in arm for arm in arms)]


def _by_key(words: Iterable[str]) -> dict[str, str]:
    return {_key(word): _bare(word) for word in words}


def _key(word: str) -> str:
    return _bare(word).partition("=")[0]


def named(config: Config, words: Sequence[str], arm: str = "") -> Config:
    """The configuration of these words, with the experiment that they name and what they change of it."""
    for key in FILLED_IN:
        if any(_bare(word).startswith(f"{key}=") for word in words):
            raise ConfigError(f"{key}: is filled in when a run starts; write +experiment=NAME")
    experiment = experiment_of(words)
    if experiment is None:
        return config
    played = experiment.arm(arm)
    told: list[str] = []
    if experiment.arms and not played.overrides:
        played = ExperimentArm("", tuple(varied(experiment, words)))
        known = {word for each in experiment.arms for word in each.overrides}
        told = [f"{word}, which no arm of it has" for word in played.overrides if word not in known]
    changed = told + departures(config, experiment, words, played)
    return replace(config, run=replace(config.run, experiment=experiment.name, departures=changed))


def departures(config: Config, experiment: Experiment, words: Sequence[str], arm: ExperimentArm) -> list[str]:
    """Every setting that is not the experiment's own, beside those that it leaves open."""
    kept = [word for word in words if _is_free(_bare(word), experiment)]
    ours, its = plain(config), plain(compose([*kept, *arm.overrides]))
    retrieves = agents.retrieves(config.agent)
    keys = [
        key
        for key in differing_keys(its, ours)
        if not key.startswith(FREE)
        and (retrieves or not key.startswith("knowledge."))
        and not _of_other_games(key, config)
    ]
    before, now = dict(leaf_items(its)), dict(leaf_items(ours))
    own = sorted(key.rpartition(".")[2] for key in keys if key.startswith("agent.prompts."))
    told = [f"prompts of one's own: {', '.join(own)}"] if own else []
    told += [
        f"{key}={_said(now.get(key))} instead of {_said(before.get(key))}"
        for key in keys
        if not key.startswith("agent.prompts.")
    ]
    return told + (_other_passages(config, experiment) if retrieves else [])


def _of_other_games(key: str, config: Config) -> bool:
    """Whether a key is an option that no game of this configuration has."""
    name = key.removeprefix("env.options.").partition(".")[0]
    known = known_options(config)
    return key.startswith("env.options.") and known is not None and name not in known


def _other_passages(config: Config, experiment: Experiment) -> list[str]:
    """That a corpus of the right name does not hold what it held there."""
    corpus = config.knowledge.corpus
    expected = experiment.passages.get(corpus)
    if expected is None or (held := knowledge.count(config.knowledge)) == expected:
        return []
    return [f"{held:,} passages in knowledge.corpus={corpus} instead of {expected:,}"]


def _is_free(word: str, experiment: Experiment) -> bool:
    """Whether an experiment leaves this to whoever plays it: a whole word, or how one begins."""
    whole = [free for free in experiment.free if not free.endswith(("=", ".", "@"))]
    begun = (*FREE_WORDS, *(free for free in experiment.free if free not in whole))
    key = word.partition("=")[0]
    return word in whole or word.startswith(begun) or key.startswith(FREE)


def _said(value: object) -> str:
    return " ".join(short(value).split())


def _bare(word: str) -> str:
    return word.lstrip("+~")
