"""Describe a board from the player's position, in BALROG's words."""

from collections.abc import Iterator

from balrog_rag.envs.babaisai.simulation import Board, Cell, Tile


def describe(board: Board, player: Cell) -> str:
    """List the active rules, and everything in sight with its offset from the player.

    Baba itself is never listed. Another thing that is YOU is an empty line: its distance is zero.
    """
    seen = [_line(cell, tile, player) for cell, tile in board.tops() if tile != Tile("baba")]
    return rules(board) + "\n".join(seen)


def rules(board: Board) -> str:
    """The active rules, up to the list of things."""
    spelled = "\n".join(f"{rule.noun} is {rule.what}" for rule in board.rules)
    return f"Active rules:\n{spelled}\n\nObjects on the map:\n"


def _line(cell: Cell, tile: Tile, player: Cell) -> str:
    way = " and ".join(_way(cell[0] - player[0], cell[1] - player[1]))
    name = f"rule `{tile.word}`" if tile.block else tile.word
    return f"{name} {way}" if way else ""


def _way(right: int, down: int) -> Iterator[str]:
    """Only steps to the right and down have a plural."""
    if right > 0:
        yield f"{right} step{'s' if right > 1 else ''} to the right"
    elif right < 0:
        yield f"{-right} step to the left"
    if down > 0:
        yield f"{down} step{'s' if down > 1 else ''} down"
    elif down < 0:
        yield f"{-down} step up"
