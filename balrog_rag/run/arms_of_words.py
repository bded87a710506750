"""Resolve `+experiment=NAME`: which arms run, and which settings depart from the experiment."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from balrog_rag import agents, knowledge
from balrog_rag.config import user_presets
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import CHANGEABLE_ON_RESUME, differing_keys, leaf_items, plain
from balrog_rag.config.preset_options import known_options
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.comparability import short
from balrog_rag.results.experiments import Experiment, ExperimentArm, find

FILLED_IN = ("run.experiment", "run.departures")
FREE = (*CHANGEABLE_ON_RESUME, "run.")
"""Key prefixes outside an experiment's definition: where to run, how fast, and for how long."""
FREE_OVERRIDES = (
    "experiment=",
    "conf_dir=",
    "runner=",
    "model=",
    "model.name=",
    "model.backend=",
    "model.options.",
)
"""Prefixes of further overrides allowed in every experiment: any model may play it."""


def experiment_of(words: Sequence[str]) -> Experiment | None:
    """Return the described experiment that the overrides name, if any."""
    names = [word.partition("=")[2] for word in words if word.lstrip("+").startswith("experiment=")]
    folder, _ = user_presets.split(words)
    return find(names[-1], folder and folder / user_presets.ARMS) if names else None


class ResolvedArms(NamedTuple):
    """The meaning of overrides given together with an experiment that has arms."""

    arms: tuple[ExperimentArm, ...]
    """Arms to run; empty: the overrides define an arm of their own."""
    said: tuple[str, ...] = ()
    """How this run differs from running all arms with all overrides, one sentence each."""


PLAYER_SECTIONS = ("agent", "model", "knowledge")
"""Config sections by which an arm can be selected, or a separate arm defined."""


def meant(experiment: Experiment, words: Sequence[str]) -> ResolvedArms:
    """Select arms: `agent=X` keeps the arms with agent X; if none has X, it defines a separate arm."""
    arms, said = experiment.playable, []
    for key, word in _by_key(words).items():
        setting = [arm.name for arm in experiment.playable if key in _by_key(arm.overrides)]
        if not setting:
            continue
        if len(setting) < len(experiment.playable):
            have = "has its" if len(setting) == 1 else "have their"
            said.append(f"{word}: not used by {', '.join(setting)}, which {have} own {key}")
            continue
        if key.partition(".")[0] not in PLAYER_SECTIONS:
            raise ConfigError(f"{word}: every arm of {experiment.name} sets {key} itself; leave it out")
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


def separate_arm(experiment: Experiment, words: Sequence[str]) -> list[str]:
    """Return the overrides of a separate arm, preceded by those that all arms share."""
    first, *others = (arm.overrides for arm in experiment.playable)
    shared = [word for word in first if all(word in other for other in others)]
    return [*(word for word in shared if _key(word) not in _by_key(words)), *words]


def varied(experiment: Experiment, words: Sequence[str]) -> list[str]:
    """Return the overrides whose keys every arm sets: these distinguish the arms."""
    arms = [_by_key(arm.overrides) for arm in experiment.playable]
    return [word for key, word in _by_key(words).items() if all(key in arm for arm in arms)]


def _by_key(words: Iterable[str]) -> dict[str, str]:
    return {_key(word): _bare(word) for word in words}


def _key(word: str) -> str:
    return _bare(word).partition("=")[0]


def named(config: Config, words: Sequence[str], arm: str = "") -> Config:
    """Return the configuration with the experiment's name and the departures from it filled in."""
    for key in FILLED_IN:
        # A user who set these keys could make a changed experiment look like the original one.
        if any(_bare(word).startswith(f"{key}=") for word in words):
            raise ConfigError(f"{key}: filled in when a run starts, cannot be set; use +experiment=NAME")
    experiment = experiment_of(words)
    if experiment is None:
        return config
    played = experiment.arm(arm)
    changes: list[str] = []
    if experiment.arms and not played.overrides:
        played = ExperimentArm("", tuple(varied(experiment, words)))
        known = {word for each in experiment.arms for word in each.overrides}
        changes = [f"{word}, which no arm of it has" for word in played.overrides if word not in known]
    changed = changes + departures(config, experiment, words, played)
    return replace(config, run=replace(config.run, experiment=experiment.name, departures=changed))


def departures(config: Config, experiment: Experiment, words: Sequence[str], arm: ExperimentArm) -> list[str]:
    """List every setting that differs from the experiment, except those it leaves open."""
    kept = [word for word in words if _is_free(_bare(word), experiment)]
    ours, its = plain(config), plain(compose([*kept, *arm.overrides]))
    retrieves = agents.retrieves(config.agent)
    keys = [
        # Options that no chosen game has, and knowledge settings of an agent that does not retrieve, cannot
        # change an episode; listing them would mark faithful runs as departures.
        key
        for key in differing_keys(its, ours)
        if not key.startswith(FREE)
        and (retrieves or not key.startswith("knowledge."))
        and not _of_other_games(key, config)
    ]
    before, now = dict(leaf_items(its)), dict(leaf_items(ours))
    own = sorted(key.rpartition(".")[2] for key in keys if key.startswith("agent.prompts."))
    changes = [f"custom prompts: {', '.join(own)}"] if own else []
    changes += [
        f"{key}={_said(now.get(key))} instead of {_said(before.get(key))}"
        for key in keys
        if not key.startswith("agent.prompts.")
    ]
    return changes + (_other_passages(config, experiment) if retrieves else [])


def _of_other_games(key: str, config: Config) -> bool:
    """Whether a key is an option that none of the configured games has."""
    name = key.removeprefix("env.options.").partition(".")[0]
    known = known_options(config)
    return key.startswith("env.options.") and known is not None and name not in known


def _other_passages(config: Config, experiment: Experiment) -> list[str]:
    """Report a corpus of the right name with a different number of passages."""
    corpus = config.knowledge.corpus
    expected = experiment.passages.get(corpus)
    if expected is None or not knowledge.has_corpus(config.knowledge):
        # A missing corpus is reported later, with the command to get it; here it must not hide that.
        return []
    if (held := knowledge.count(config.knowledge)) == expected:
        return []
    return [f"{held:,} passages in knowledge.corpus={corpus} instead of {expected:,}"]


def _is_free(word: str, experiment: Experiment) -> bool:
    """Whether an experiment leaves this override to the user: a complete override, or a prefix."""
    whole = [free for free in experiment.free if not free.endswith(("=", ".", "@"))]
    begun = (*FREE_OVERRIDES, *(free for free in experiment.free if free not in whole))
    key = word.partition("=")[0]
    return word in whole or word.startswith(begun) or key.startswith(FREE)


def _said(value: object) -> str:
    return " ".join(short(value).split())


def _bare(word: str) -> str:
    return word.lstrip("+~")
