"""The arms of a bank: run folders whose episodes begin at the bank's states.

BANK/arms/ARM/    a run folder like any other: its episodes are forks of the recorded ones
BANK/arms/        a sweep of them
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from balrog_rag import agents
from balrog_rag.banks.journal_prefix import write_prefix
from balrog_rag.banks.moments import ReplayableJournal
from balrog_rag.banks.state_checks import refuse_other
from balrog_rag.banks.stored_bank import BankState, StoredBank, checked_name
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import differing_keys, plain
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode.spec import EpisodeSpec, Fork, PlayerSpec, episode_name
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import mark, mark_new
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.begin import resumed_run
from balrog_rag.run.grid import Combination
from balrog_rag.run.plan import PlannedRun, kinds_in
from balrog_rag.run.preflight import check_config, check_episodes, refuse_together, service_checks
from balrog_rag.run.services import player_of, resolved
from balrog_rag.run.sweep_plan import PlannedSweep
from balrog_rag.util.bounded_decoding import decoded_json

ARMS = "arms"
"""The folder of a bank's arms."""
OF_PLAYER = ("agent.", "model.", "knowledge.", "limits.", "runner.", "run.")
"""Settings that an arm may have: the player's and the runner's; the games are the bank's."""


class BankArm(NamedTuple):
    """A variant to be played: its name and its overrides."""

    name: str
    words: tuple[str, ...]


def arms_of(agents_named: str, described: Sequence[str], shared: Sequence[str]) -> list[BankArm]:
    """Return the arms of `--arms a,b` and of each `--arm NAME=OVERRIDES`, with overrides that all share."""
    arms = [
        BankArm(checked_name("--arms", name), (f"agent={name}", *shared))
        for name in agents_named.split(",")
        if name
    ]
    for each in described:
        name, _, words = each.partition("=")
        if not words.strip():
            raise ConfigError(f"--arm {each!r:.80}: write NAME='OVERRIDE ...', such as --arm cot='agent=cot'")
        arms.append(BankArm(checked_name("--arm", name), (*shared, *words.split())))
    names = [arm.name for arm in arms]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ConfigError(f"--arm {twice}: named twice; give each arm another name")
    if not arms:
        raise ConfigError("--arms: name at least one agent, or describe an arm with --arm NAME='agent=...'")
    return arms


def planned_arms(stored: StoredBank, arms: Sequence[BankArm], steps: int | None) -> list[PlannedRun]:
    """Check all arms, then create their folders; an arm that exists with the same settings is resumed."""
    top = stored.folder / ARMS
    begun = [_planned(stored, top / arm.name, arm, steps) for arm in arms]
    runs = [run if exists else _created(stored, run) for run, exists in begun]
    _record(top, arms)
    return runs


def _planned(stored: StoredBank, folder: Path, arm: BankArm, steps: int | None) -> tuple[PlannedRun, bool]:
    """Return the run of an arm, and whether it exists already."""
    config = resolved(_config(stored, folder, arm))
    check_config(config)
    refuse_together(service_checks(config))
    player = player_of(config)
    by_program = not agents.asks_model(config.agent)
    specs = [
        _spec(stored, number, state, player, steps, by_program)
        for number, state in enumerate(stored.bank.states)
    ]
    # Their own players are not checked: they have played already.
    check_episodes([msgspec.structs.replace(spec, player=player, forks=()) for spec in specs])
    if not (folder / run_folder.CONFIG).exists():
        return PlannedRun(folder, config, specs, kinds_in(config), arm.name), False
    old = resumed_run(read_run(folder), [], label=arm.name)
    if [spec.digest for spec in old.specs] != [spec.digest for spec in specs]:
        raise ConfigError(
            f"{folder}: was played with other settings, or another --steps; give this arm another name: "
            f"--arm OTHER='{' '.join(arm.words)}'"
        )
    return old, True


def _config(stored: StoredBank, folder: Path, arm: BankArm) -> Config:
    """Compose the configuration of an arm; its environment only names the bank's tasks."""
    asked = plain(compose(list(arm.words)))
    foreign = sorted(
        key for key in differing_keys(plain(compose([])), asked) if not key.startswith(OF_PLAYER)
    )
    if foreign:
        raise ConfigError(f"{arm.name}: {', '.join(foreign)}: the bank has the games; remove it")
    tasks = sorted({state.episode.rpartition("/")[0] for state in stored.bank.states})
    names = ",".join(f"'{task}'" for task in tasks)
    config = compose([*arm.words, f"env.tasks=[{names}]", f"env.episodes={len(stored.bank.states)}"])
    config.run.folder, config.run.name = str(folder.parent), folder.name
    return config


def _spec(
    stored: StoredBank, number: int, state: BankState, player: PlayerSpec, steps: int | None, by_program: bool
) -> EpisodeSpec:
    """Return the episode that begins at a state, numbered by its place in the bank."""
    episode = ReplayableJournal(stored.journal_of(state), stored.recording(state))
    refuse_other(stored, state, episode)
    spec = episode.spec
    made = msgspec.structs.replace(
        spec,
        episode=episode_name(state.episode.rpartition("/")[0], number),
        forks=(*(fork for fork in spec.forks if fork.at < state.at), Fork(state.at, player)),
        steps=None,
        turns=msgspec.UNSET,
    )
    if steps is None:
        return made
    clock = kind_of(spec.game.env).hints.signals.clock(state.numbers)
    if by_program and clock is not None:
        return msgspec.structs.replace(made, turns=steps)
    return msgspec.structs.replace(made, steps=state.at + steps)


def _created(stored: StoredBank, run: PlannedRun) -> PlannedRun:
    """Create the folder of an arm: its configuration, its episodes, and the journals up to the states."""
    run_folder.create(run.folder, plain(run.config))
    run_folder.write_json(run.folder / run_folder.FORKED, list(run.specs))
    mark_new(run.folder, run_folder.CONFIG, run_folder.FORKED)
    for state, spec in zip(stored.bank.states, run.specs, strict=True):
        write_prefix(stored.recording(state), state, spec, run)
    return run


def _record(top: Path, arms: Sequence[BankArm]) -> None:
    """Record the arms as a sweep, so that it can be resumed and reported on."""
    path, known = top / run_folder.SWEEP, {}
    if path.exists():
        recorded = decoded_json(path.read_bytes(), PlannedSweep)
        known = {each.name: each for each in recorded.runs}
    known |= {arm.name: Combination(arm.name, list(arm.words)) for arm in arms}
    run_folder.write_json(path, PlannedSweep([], list(known.values())))
    mark(top)
