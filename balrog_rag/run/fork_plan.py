"""Plan a fork of an episode: its entries up to a step, then another agent or model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag import agents
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import SETTLED, config_digest, differing_keys, plain, thaw, value_at, with_value
from balrog_rag.config.providers import with_provider
from balrog_rag.config.schema import Config
from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError, JournalError
from balrog_rag.contracts.kinds import kind_of, refuse_other_version
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Header, Recording, Step
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.spec import EpisodeSpec, Fork
from balrog_rag.models.api_keys import refuse_unanswerable
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import mark_new
from balrog_rag.results.stored_run import StoredRun, read_run
from balrog_rag.run.plan import PlannedRun, kinds_in
from balrog_rag.run.preflight import check_config
from balrog_rag.run.provenance import versions
from balrog_rag.run.resume import resumed_config, specs_of
from balrog_rag.run.services import player_of, resolved
from balrog_rag.run.trust import refuse_untrusted_folder
from balrog_rag.util.wording import many

RECAST = ("agent.", "model.", "knowledge.", "limits.", "runner.", "run.")
"""What a fork may change: player and runner, never the game; see also `shown_keys`."""


def planned_fork(path: Path, at: int, out: Path, overrides: list[str], trust: bool = False) -> PlannedRun:
    """Create the new run folder with the entries before step `at`; return its run."""
    header, recording = journal.read_headed(path)
    held = recording.count
    if not 0 <= at <= held:
        raise ConfigError(f"fork at step {at}: the journal has {many(held, 'steps')}, counted from 0")
    stored = read_run(run_of(path, header.spec.episode))
    # The steps before the fork are replayed by their own player, whose code would run.
    if agents.runs_outside_code((before := resumed_config(stored, [])).agent):
        refuse_untrusted_folder(stored, before, [], trust)
    config = with_other_player(stored, overrides)
    refuse_untrusted_folder(stored, config, overrides, trust)
    check_config(config)
    refuse_unanswerable(config.model)
    parent = planned_spec(stored, path, header)
    earlier = tuple(old for old in parent.forks if old.at < at)
    game = offered_otherwise(parent.game, config)
    if game != parent.game:
        refuse_named_presses(recording, at)
        # Recorded screens have the old parts and actions, so the program presses its keys again.
        copied = Recording(header)
    else:
        copied = recording
    if why := agents.refusal(config.agent.name, game):
        raise ConfigError(why)
    spec = msgspec.structs.replace(
        parent, game=game, forks=(*earlier, Fork(at, player_of(config))), steps=config.limits.steps
    )
    run_folder.create(out, plain(config))
    run_folder.write_json(out / run_folder.FORKED, [spec])
    mark_new(out, run_folder.CONFIG, run_folder.FORKED)
    kinds = kinds_in(config)
    version = max(header.v, journal.SPARSE)  # copied entries have the fields of their version
    header = Header(version, spec, spec.digest, config_digest(plain(config)), versions(kinds))
    copy_until(copied, at, header, out)
    return PlannedRun(out, config, [spec], kinds)


def offered_otherwise(game: GameSpec, config: Config) -> GameSpec:
    """The same game with the configuration's programs, and its options of showing and playing the game."""
    kind = kind_of(game.env)
    resolved_now = resolved_options(kind, config.env.options, kinds_in(config))
    shown = {name: resolved_now[name] for name in kind.sampling.interface if name in game.options}
    programs = tuple(config.env.programs)
    return msgspec.structs.replace(game, programs=programs, options={**game.options, **shown})


def refuse_named_presses(recording: Recording, at: int) -> None:
    """Refuse other actions for steps that depend on the actions: a model's, or a program's by name."""
    for step in recording.steps:
        if step.n < at and (not step.pressed or any(isinstance(press, str) for press in step.pressed)):
            raise ConfigError(
                f"env: step {step.n} was decided among the actions that the game had; a fork can change how "
                "the game is shown and played only after steps of a program that presses keys, such as delver"
            )


def check_presses(path: Path, run: PlannedRun) -> None:
    """Raise JournalError if a program that played again did not press the keys of the forked journal."""
    (spec,) = run.specs
    at, played = spec.forks[-1].at, run_folder.journal_path(run.folder, spec.episode)
    old, new = (_pressed_before(journal.read(each), at) for each in (path, played))
    if new[: len(old)] != old[: len(new)]:
        raise JournalError(f"{run.folder}: its bot did not press the forked keys again; do not use this run")


def _pressed_before(recording: Recording, at: int) -> list[int | str]:
    return [key for step in recording.steps if step.n < at for key in step.pressed[: at - step.n]]


def run_of(path: Path, episode: str) -> Path:
    """Return the run folder of a journal."""
    run = run_folder.home_of(path)
    if run is None or run_folder.journal_path(run, episode).resolve() != path.resolve():
        raise JournalError(f"{path}: not in a run folder, so its configuration is unknown")
    return run


def with_other_player(stored: StoredRun, overrides: list[str]) -> Config:
    """The run's configuration with another player: whole groups, or single keys."""
    config = plain(resumed_config(stored, []))
    for key, nothing in (("run.experiment", None), ("run.departures", []), ("runner.shard", None)):
        config = with_value(config, key, nothing)  # a fork belongs neither to an experiment nor to a shard
    own = config["model"]
    if not overrides:
        return resolved(thaw(config, Config))
    asked = plain(compose(overrides))
    changed = [key for key in differing_keys(plain(compose([])), asked) if not key.startswith(RECAST)]
    names = [word.partition("=")[0].lstrip("+") for word in overrides]
    shown = shown_keys(stored, [*changed, *(name for name in names if name == "env.programs")])
    if foreign := sorted(set(changed) - shown):
        raise ConfigError(f"{', '.join(foreign)}: a fork cannot change the game; remove it")
    for key in sorted(shown):
        config = with_value(config, key, value_at(asked, key))
    names = [name for name in names if not name.startswith("env.")]
    for name in sorted(names, key=lambda name: "." in name):
        config = with_value(config, name, value_at(asked, name))
    if "model.name" in names and "model" not in names:
        config = with_value(config, "model.name", _of_provider(own["name"], config["model"]))
    for content, sources in SETTLED.items():
        if not set(sources).isdisjoint(names):
            config = with_value(config, content, None)
    return resolved(thaw(config, Config))


def shown_keys(stored: StoredRun, keys: Sequence[str]) -> set[str]:
    """Those of the keys that say how the games of a run are shown and played, not which games they are."""
    known = {"env.programs"}
    for kind in kinds_in(resumed_config(stored, [])):
        for name in kind.sampling.interface:
            known |= {f"env.options.{name}", f"env.options.{kind.name}.{name}"}
    return known & set(keys)


def planned_spec(stored: StoredRun, path: Path, header: Header) -> EpisodeSpec:
    """The spec of a journal according to its run folder: an untrusted journal could name another model."""
    planned = {spec.episode: spec for spec in specs_of(stored)}
    spec = planned.get(header.spec.episode)
    if spec is None or spec.digest != header.spec_digest or spec.digest != header.spec.digest:
        refuse_other_version(header.spec.game, str(path))
        raise JournalError(f"{path}: not an episode of {stored.folder}'s configuration")
    return spec


def _of_provider(like: str, model: dict[str, Any]) -> str:
    """The full name of another model of the same provider, which may be given without it."""
    name: str = model["name"]
    provider, slash, _ = like.partition("/")
    return with_provider(name, provider) if slash and model["backend"] == "litellm" else name


def copy_until(recording: Recording, at: int, header: Header, out: Path) -> None:
    """Copy the entries of the old journal before step `at` to the new one."""
    with Writer(run_folder.journal_path(out, header.spec.episode)) as writer:
        writer.append(header)
        steps = 0
        for entry in recording.before_end().entries:
            steps += entry.count if isinstance(entry, Step) else 0
            if steps > at:
                break  # inside a program's burst, which the program repeats
            writer.append(entry)
            if steps == at and isinstance(entry, Step):
                break
