"""Write episodes into a single file that opens without a server."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.run.replay import OwnPlayers
from balrog_rag.util.files import replacing
from balrog_rag.util.garbage_collection import rare_collections
from balrog_rag.util.wording import many
from balrog_rag.viewer.html_page import page
from balrog_rag.viewer.listing import ListedEpisode
from balrog_rag.viewer.overview import overview
from balrog_rag.viewer.packing import packed
from balrog_rag.viewer.rebuilding import RebuiltEpisode
from balrog_rag.viewer.run_traces import TraceLibrary

TIGHT = 9
"""Compression level of a file."""


class BackLink(msgspec.Struct, frozen=True):
    """A link from a page to the one that it was written for."""

    text: str
    href: str


Progress = Callable[[int], None]
"""Called with the number of episodes that are done."""


def write(
    episodes: Sequence[ListedEpisode],
    out: Path,
    back: BackLink | None = None,
    progress: Progress = lambda done: None,
    mark: str = "",
    tiles: bool = False,
) -> list[str]:
    """Write the page; return one line for each episode that could not be rebuilt.

    `mark`: the expression by which its timelines mark steps at first. `tiles`: draw them as well.
    """
    failures: list[str] = []
    with replacing(out) as file, rare_collections():
        for piece in page(blocks(episodes, failures, back, progress, mark, tiles)):
            file.write(piece)
    return failures


def blocks(
    episodes: Sequence[ListedEpisode],
    failures: list[str],
    back: BackLink | None = None,
    progress: Progress = lambda done: None,
    mark: str = "",
    tiles: bool = False,
) -> Iterator[tuple[str, bytes]]:
    """Yield every document of the page with its name, episode by episode."""
    link = {} if back is None else {"back": msgspec.to_builtins(back)}
    yield "run", packed(overview(episodes) | link | {"mark": mark}, TIGHT)
    traces, own = TraceLibrary(), OwnPlayers()
    for place, episode in enumerate(episodes):
        progress(place)
        if episode.row.get("state") == "damaged":
            continue
        rebuilt = episode.source(tiles, own)
        rebuilt.run()
        if rebuilt.failure:
            failures.append(rebuilt.failure)
        if isinstance(rebuilt, RebuiltEpisode):
            traces.put(episode.path, rebuilt.trace)
        yield f"{place}/head", packed(rebuilt.head(), TIGHT)
        for number in range(rebuilt.collector.chunks):
            if (chunk := rebuilt.collector.chunk(number)) is not None:
                yield f"{place}/{number}", chunk
    progress(len(episodes))
    yield "traces", packed(traces.document(episodes, math.inf), TIGHT)


def summary_line(out: Path, episodes: Sequence[Any], failures: Sequence[str]) -> str:
    """Summarize what was written in one line, and list what is missing."""
    size = out.stat().st_size
    what = f"{out}: {many(len(episodes), 'episodes')}, {size / 1e6:.2f} MB"
    return "\n".join([what, *(f"note: {line}" for line in failures)])
