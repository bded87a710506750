"""Demonstrations: other players' episodes as turns of text, shown by few_shot.

Make files of them with `balrog-rag prompts demonstrate`, or use BALROG's records.
"""

from pathlib import Path

import msgspec


class DemonstrationTurn(msgspec.Struct, frozen=True):
    """One turn: what the game showed (its long-term part) and the action taken."""

    observation: str
    action: str


class Demonstration(msgspec.Struct, frozen=True):
    """One episode from its first turn."""

    task: str
    """As ENV/TASK; ENV alone: a demonstration for all of its tasks."""
    source: str
    """Where it came from, for readers of the file."""
    turns: tuple[DemonstrationTurn, ...]
    last: str | None = None
    """The result of the last action; None in files of earlier versions, which end with that action."""
    seed: int | None = None
    """The seed of its game, so that few_shot never shows the solution of the game being played."""


def shortened(demonstration: Demonstration, turns: int | None) -> Demonstration:
    """Keep the first turns and the result of the last of them; None: all turns."""
    if turns is None or turns >= len(demonstration.turns):
        return demonstration
    last = demonstration.turns[turns].observation
    return msgspec.structs.replace(demonstration, turns=demonstration.turns[:turns], last=last)


def write(path: Path, demonstration: Demonstration) -> None:
    """Write the file of one episode."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(demonstration), indent=1) + b"\n")
