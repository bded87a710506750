"""Search results for people: colour in a terminal, plain where piped; passages are made safe to print."""

from collections.abc import Sequence
from typing import Any

import msgspec

from balrog_rag.contracts.data import Passage
from balrog_rag.util.terminal_safe import one_line, terminal_safe

_HEAD = 320


def print_results(found: Sequence[Passage], whole: bool) -> None:
    """Rank, title, score, id and the head of each passage."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for rank, passage in enumerate(found, start=1):
        line = Text(f"{rank:2}. ", style="dim")
        line.append(one_line(passage.title), style="bold cyan")
        line.append(f"  {passage.score:.4f}", style="green")
        about = (passage.id, passage.licence, f"game {passage.version}" if passage.version else "")
        line.append("".join(f"  {one_line(each)}" for each in about if each), style="dim")
        console.print(line)
        console.print(Text(_head(passage.text, whole)), style=None)
        if passage.url:
            console.print(Text(one_line(passage.url), style="blue"))
        console.print()
    if not found:
        console.print(Text("nothing found", style="yellow"))


def json_results(query: str, found: Sequence[Passage]) -> str:
    """The same as JSON, one object."""
    plain: dict[str, Any] = {"query": query, "passages": [msgspec.to_builtins(passage) for passage in found]}
    return msgspec.json.format(msgspec.json.encode(plain), indent=2).decode()


def _head(text: str, whole: bool) -> str:
    clean = terminal_safe(text)
    if whole or len(clean) <= _HEAD:
        return clean
    return clean[:_HEAD].rsplit(" ", 1)[0] + " ..."
