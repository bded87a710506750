"""Live frames of games, and the frames that nle's own code reads from their recordings."""

import asyncio
import bz2
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nle import dataset as nld
from nle.nethack import nethack

from balrog_rag.cli import dataset as verb
from balrog_rag.contracts.data import GameSpec
from balrog_rag.workers.inline import InlineGame

SCORE = 9
OUTPUT, INPUT, BELL = 0, 1, b"\a"
"""Channels of a recording: terminal output, and keys."""
KEYS = ("tty_chars", "tty_colors", "tty_cursor")


class Live:
    """Every frame shown by a game of this process, with the key that was pressed at it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.games: list[list[dict[str, Any]]] = []
        step, reset = nethack.Nethack.step, nethack.Nethack.reset

        def pressed(game: Any, key: int) -> Any:
            self.games[-1][-1]["keypresses"] = key
            done = step(game, key)
            self.games[-1].append(frame(game))
            return done

        def begun(game: Any, *arguments: Any, **named: Any) -> Any:
            done = reset(game, *arguments, **named)
            self.games.append([frame(game)])
            return done

        patch.setattr(nethack.Nethack, "step", pressed)
        patch.setattr(nethack.Nethack, "reset", begun)


def frame(game: Any) -> dict[str, Any]:
    arrays = game._obs_buffers
    return {**{key: arrays[key].copy() for key in KEYS}, "scores": int(arrays["blstats"][SCORE])}


def recorded(root: Path) -> list[dict[str, Any]]:
    """The games below a root as nle's own code imports and reads them, with their metadata."""
    path = str(root.parent / f"{root.name}.db")
    nld.db.create(path)
    nld.add_nledata_directory(str(root), "read", path)
    dataset = nld.TtyrecDataset("read", batch_size=1, dbfilename=path, shuffle=False)
    return [game_of(dataset, number) for number in sorted(dataset._gameids)]


def game_of(dataset: Any, number: int) -> dict[str, Any]:
    batches = dataset.get_ttyrec(number, 512)
    there = np.concatenate([batch["gameids"][0] for batch in batches]) != 0
    names = (*KEYS, "keypresses", "scores", "timestamps")
    frames = {name: np.concatenate([batch[name][0] for batch in batches])[there] for name in names}
    return {**frames, "meta": dict(dataset.get_meta(number))}


def differing(live: list[dict[str, Any]], read: dict[str, Any]) -> list[str]:
    """The differences between a recording's frames and those shown; the last ones have no key."""
    wrong = []
    if len(read["keypresses"]) != len(live) - 1:
        wrong.append(f"{len(live) - 1} frames, {len(read['keypresses'])} recorded")
    for number, shown in enumerate(live[:-1]):
        for name in ("tty_colors", "tty_cursor", "scores", "keypresses"):
            if not np.array_equal(shown[name], read[name][number]):
                wrong.append(f"frame {number}: {name}")
        chars, theirs = shown["tty_chars"], read["tty_chars"][number]
        plain = chars < 0x80  # nle's reader shows letters beyond ASCII as others
        if not np.array_equal(chars[plain], theirs[plain]):
            wrong.append(f"frame {number}: tty_chars")
    return wrong


def same_frames(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two recordings have the same frames; only the time of day may differ."""
    return all(np.array_equal(mine[name], theirs[name]) for name in (*KEYS, "keypresses", "scores"))


def press(spec: GameSpec, actions: list[str], ttyrec: Path) -> None:
    """Play a game with these actions and close it, ended or not."""

    async def play() -> None:
        game = InlineGame(spec, str(ttyrec))
        try:
            await game.play(actions)
        finally:
            await game.close()

    asyncio.run(play())


def older(newest: Path, version: int, stem: Path) -> Path:
    """A recording in an older version: 2 has no scores, 1 also no keys and one frame per write."""
    data, at, made, sent = bz2.decompress(newest.read_bytes()), 0, [], b""

    def add(channel: int, body: bytes) -> None:
        header = struct.pack("<iii", seconds, micros, len(body))
        made.append(header + (bytes([channel]) if version == 2 else b"") + body)

    while at < len(data):
        seconds, micros, length, channel = struct.unpack_from("<iiiB", data, at)
        at += 13 + length
        body = data[at - length : at]
        if channel == OUTPUT:
            sent += body
        elif channel == INPUT:
            add(OUTPUT, sent or BELL)  # a writing of no length ends a recording
            sent = b""
            if version == 2:
                add(INPUT, body)
    add(OUTPUT, sent or BELL)  # what comes last is no frame: nle's reader leaves it out
    ending = "" if version == 1 else str(version)
    path = stem.with_name(f"{stem.name}.ttyrec{ending}.bz2")
    path.write_bytes(bz2.compress(b"".join(made)))
    return path


def dataset(*words: object) -> int:
    """`balrog-rag dataset WORDS...` in this process; its exit code."""
    return verb.main(list(map(str, words)))
