"""Format search results for people: coloured in a terminal, plain in pipes, and safe to print."""

from collections.abc import Sequence
from typing import Any

import msgspec

from balrog_rag.contracts.data import Passage
from balrog_rag.util.terminal_safe import one_line, terminal_safe

_HEAD = 320


_MEANS = (
    "The number says how well a passage suits the query or a part of it: higher is better, within one search."
)
_MOVED = "moved up: it speaks of a part of the query that those above do not"


def print_results(found: Sequence[Passage], whole: bool, covered: bool = False) -> None:
    """Print rank, title, score, id and beginning of each passage, and why it precedes a better score."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for rank, (passage, moved) in enumerate(zip(found, moved_up(found, covered), strict=True), start=1):
        line = Text(f"{rank:2}. ", style="dim")
        line.append(one_line(passage.title), style="bold cyan")
        line.append(f"  {passage.score:.2f}", style="green")
        line.append(f" ({_MOVED})" if moved else "", style="yellow")
        console.print(line)
        about = (passage.id, passage.licence, f"game {passage.version}" if passage.version else "")
        console.print(Text("  ".join(one_line(each) for each in about if each), style="dim"))
        console.print(Text(_head(passage.text, whole)), style=None)
        if passage.url:
            console.print(Text(one_line(passage.url), style="blue"))
        console.print()
    console.print(Text(_MEANS, style="dim") if found else Text("nothing found", style="yellow"))


def json_results(query: str, found: Sequence[Passage], covered: bool = False) -> str:
    """Return the same as one JSON object."""
    moved = moved_up(found, covered)
    rows = [
        {**msgspec.to_builtins(passage), "moved_up": up} for passage, up in zip(found, moved, strict=True)
    ]
    plain: dict[str, Any] = {"query": query, "passages": rows}
    return msgspec.json.format(msgspec.json.encode(plain), indent=2).decode()


def moved_up(found: Sequence[Passage], covered: bool) -> list[bool]:
    """For each passage, whether `knowledge.cover` moved it before one with a better score."""
    best = [max((other.score for other in found[place:]), default=0.0) for place in range(1, len(found) + 1)]
    return [covered and each.score < after for each, after in zip(found, best, strict=True)]


def _head(text: str, whole: bool) -> str:
    clean = terminal_safe(text)
    if whole or len(clean) <= _HEAD:
        return clean
    return clean[:_HEAD].rsplit(" ", 1)[0] + " ..."
