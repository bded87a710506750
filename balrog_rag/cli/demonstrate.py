"""Create demonstrations from recorded play: our own journals, NLE's ttyrec recordings, BALROG's records."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from balrog_rag.agents.balrog_records import SUFFIX
from balrog_rag.agents.demonstration_choice import RECORDING
from balrog_rag.agents.demonstration_files import listed, read
from balrog_rag.agents.demonstrations import Demonstration, DemonstrationTurn
from balrog_rag.contracts.behaviour import RunningGame
from balrog_rag.contracts.data import Burst, Observation, Part, ProgramPlayer
from balrog_rag.contracts.errors import ConfigError, ReplayError
from balrog_rag.episode.journal import Step

Screen: TypeAlias = Any
"""An array of characters or coordinates; imported lazily, since NumPy is slow to load."""

_ROWS, _COLUMNS = 24, 80
_CHUNK = 512


def from_any(path: Path) -> Demonstration:
    """Convert a record of BALROG, a recording or a journal."""
    from balrog_rag.dataset.recordings import version_of

    if path.suffix == SUFFIX:
        return read(listed([str(path)])[0])
    return from_ttyrec(path) if version_of(path) is not None else asyncio.run(from_journal(path))


async def from_journal(path: Path) -> Demonstration:
    """Convert a journal with the actions that were taken; the game is replayed for it."""
    from balrog_rag.episode.journal import read
    from balrog_rag.workers.inline import InlineGames

    recording = read(path)
    if recording.header is None:
        raise ConfigError(f"{path}: the journal is empty")
    spec, steps = recording.header.spec, recording.steps
    game = await InlineGames().open(spec.game)
    seen, turns = game.start.observation, list[DemonstrationTurn]()
    try:
        for step in steps:
            shown, seen = await _shown(game, step, seen)
            if shown and step.obs != seen.digest:
                raise ReplayError(
                    f"{path}: step {step.n}: the replayed game shows a different screen than the journal"
                )
            turns += shown
    finally:
        await game.close()
    task = f"{spec.game.env}/{spec.game.task}"
    made = f"journal of {spec.episode}"
    return Demonstration(task, made, tuple(turns), seen.long_term, spec.game.seeds.core)


async def _shown(
    game: RunningGame, step: Step, seen: Observation
) -> tuple[list[DemonstrationTurn], Observation]:
    """The observations and actions of a step, press by press for a program, and the observation after it.

    The program itself is not run: its recorded key presses are replayed one by one.
    """
    if step.stopped and not step.pressed and not game.view.takes(step.taken):
        return [], seen  # the program failed before its first key press
    if not step.pressed:
        (after,) = await game.play([step.taken])
        return [DemonstrationTurn(seen.long_term, step.taken)], after.observation
    player, turns = ProgramPlayer(step.taken, {}, 0), list[DemonstrationTurn]()
    for press in step.pressed:
        named = press if isinstance(press, str) else _action(press, seen.text("message"))
        turns.append(DemonstrationTurn(seen.long_term, named))
        seen = (await game.run(player, 1, Burst(1, (press,)))).observation
    return turns, seen


def from_ttyrec(path: Path) -> Demonstration:
    """Convert a recording by NLE. It only contains the screen, so language and inventory are missing."""
    turns = tuple(
        DemonstrationTurn(_seen(screen, cursor), _action(key, text_message_of(screen)))
        for screen, cursor, key in _frames(path)
        if key
    )
    if not turns:
        raise ConfigError(f"{path}: contains no key presses; use a recording of ttyrec version 2 or later")
    return Demonstration(f"nle/{RECORDING}", f"recording {path.name}", turns)


def _frames(path: Path) -> Iterator[tuple[Screen, Screen, int]]:
    """Yield every screen with its cursor and the key pressed in response; 0 for the last."""
    import numpy as np
    from nle import _pyconverter

    from balrog_rag.dataset.recordings import version_of

    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    converter = _pyconverter.Converter(_ROWS, _COLUMNS, version_of(path))
    converter.load_ttyrec(str(path), gameid=1, part=0)
    left = 0
    while not left:
        chars = np.zeros((_CHUNK, _ROWS, _COLUMNS), np.uint8)
        colors = np.zeros((_CHUNK, _ROWS, _COLUMNS), np.int8)
        cursors = np.zeros((_CHUNK, 2), np.int16)
        times, keys = np.zeros(_CHUNK, np.int64), np.zeros(_CHUNK, np.uint8)
        left = converter.convert(chars, colors, cursors, times, keys, np.zeros(_CHUNK, np.int32))
        yield from zip(chars[: _CHUNK - left], cursors, keys.tolist(), strict=False)


def text_message_of(screen: Screen) -> str:
    """Return the game's message on a screen."""
    from balrog_rag.envs.nethack.language import text_message

    return text_message(screen)


def _seen(screen: Screen, cursor: Screen) -> str:
    """The long part of the observation that an agent would have read."""
    rows = [bytes(row).decode("latin-1") for row in screen[1:]]
    parts = (
        Part("message", text_message_of(screen)),
        Part("language observation", ""),
        Part("cursor", f"(x={int(cursor[1])}, y={int(cursor[0])})"),
        Part("map", "\n".join(rows) + "\n"),
    )
    return Observation(parts).long_term


def _action(key: int, message: str) -> str:
    """Name a pressed key: a letter if the game asks for an item, otherwise the command."""
    from balrog_rag.envs.nethack.actions import name_of

    return name_of(key, "[" in message or "(end)" in message, lambda name: True) or "esc"
