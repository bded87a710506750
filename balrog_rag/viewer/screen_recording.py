"""Export a range of an episode's screens as an asciicast for terminals, or as a GIF for slides."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.files import replacing
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.viewer.collector import Collector
from balrog_rag.viewer.packing import PackedScreen, unpacked

ENDINGS = (".cast", ".gif")
SECONDS = 0.25
"""Duration of a moment."""
PALETTE = (
    *("5b9dd9", "e0653a", "3fae7f", "b98a3d", "5c8fe0", "c77bb0", "44b3c2", "c8ccd0"),
    *("7d8790", "ff9166", "7fe0a8", "ffd75e", "8ab8ff", "f2a6dd", "7fe3ee", "ffffff", "101214"),
)
"""The page's sixteen colours and its background."""
BACKGROUND = 16
GREY = "7"
SIZE = 15
"""Font height in a GIF."""
MOST_FRAMES = 5_000
"""Maximum moments per GIF."""


class RecordedScreen(NamedTuple):
    """One screen of an episode."""

    at: int
    screen: PackedScreen


def moments(collector: Collector, first: int = 0, last: int | None = None) -> Iterator[RecordedScreen]:
    """Yield the screens between two positions, both included."""
    rows: list[str] = []
    colours: list[str] = []
    for number in range(collector.chunks):
        chunk = unpacked(collector.chunk(number) or b"")
        for place, (change, cursor, _) in enumerate(chunk["screens"]):
            if isinstance(change, dict):
                rows, colours = change["rows"], change["colours"]
            else:
                rows, colours = changed(rows, colours, change)
            at = chunk["at"] + place
            if at >= first and (last is None or at <= last):
                yield RecordedScreen(at, PackedScreen(rows, colours, tuple(cursor) if cursor else None))


def changed(rows: list[str], colours: list[str], change: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Apply a change to rows and their colours."""
    rows, colours = list(rows), list(colours)
    for row, start, dropped, text, *colour in change:
        if row < 0:
            return text, colour[0]
        rows[row] = rows[row][:start] + text + rows[row][start + dropped :]
        if colours:
            colours[row] = colours[row][:start] + colour[0] + colours[row][start + dropped :]
    return rows, colours


def bounds(text: str | None, last: int) -> tuple[int, int]:
    """Parse `A:B` or `A` into positions."""
    if text is None:
        return 0, last
    begin, colon, end = text.partition(":")
    if not all(each.isdecimal() or not each for each in (begin, end)) or text in ("", ":"):
        raise ConfigError(f"--steps {text}: write it as 100:150, or 100")
    first = int(begin or 0)
    most = min(int(end), last) if end else (last if colon else first)
    if first > most:
        raise ConfigError(f"--steps {text}: out of range; use positions 0 to {last}")
    return first, most


def write(collector: Collector, out: Path, title: str, steps: str | None) -> int:
    """Write a recording in the format of the file's extension; return the number of moments."""
    first, last = bounds(steps, collector.count)
    shown = moments(collector, first, last)
    if out.suffix == ".gif":
        if last - first >= MOST_FRAMES:
            raise ConfigError(f"{out}: more than {MOST_FRAMES:,} moments; select fewer with --steps")
        screens = [moment.screen for moment in shown]
        with replacing(out) as file:
            _gif(screens, file)
    else:
        with replacing(out) as file:
            for line in cast(shown, title):
                file.write(line)
    return last - first + 1


def cast(shown: Iterator[RecordedScreen], title: str) -> Iterator[bytes]:
    """Yield the lines of an asciicast, version 2; each moment writes the rows that changed."""
    before: PackedScreen | None = None
    for place, (_, screen) in enumerate(shown):
        if before is None:
            size = {"width": max(80, *map(len, screen.rows)), "height": max(24, len(screen.rows))}
            yield msgspec.json.encode({"version": 2, **size, "title": terminal_safe(title)}) + b"\n"
        yield msgspec.json.encode([round(place * SECONDS, 3), "o", _written(before, screen)]) + b"\n"
        before = screen


def _written(before: PackedScreen | None, now: PackedScreen) -> str:
    """The output that makes a terminal show this screen; text of the game cannot move the cursor."""
    parts = ["\x1b[2J"] if before is None or len(before.rows) != len(now.rows) else []
    for row, text in enumerate(now.rows):
        colours = now.colours[row] if now.colours else GREY * len(text)
        old = None if parts[:1] == ["\x1b[2J"] or before is None else before
        if old is None or old.rows[row] != text or (old.colours and old.colours[row] != colours):
            parts.append(f"\x1b[{row + 1};1H\x1b[2K{''.join(_runs(text, colours))}\x1b[0m")
    row, column = now.cursor or (0, 0)
    return "".join([*parts, f"\x1b[{row + 1};{column + 1}H"])


def _runs(text: str, colours: str) -> Iterator[str]:
    """A row's text with an escape sequence at every change of colour."""
    colour = GREY
    for sign, wanted in zip(terminal_safe(text).rstrip(), colours, strict=False):
        if wanted != colour and sign != " ":
            colour = wanted
            number = int(wanted, 16)
            yield f"\x1b[{30 + number if number < 8 else 82 + number}m"
        yield sign


def _gif(screens: Sequence[PackedScreen], out: BinaryIO) -> None:
    """Draw every screen; unchanged rows are not redrawn."""
    from PIL import Image, ImageDraw

    font = _font()
    wide, high = round(font.getlength("M")), SIZE + 3
    rows = max(len(screen.rows) for screen in screens)
    columns = max(80, *(len(row) for screen in screens for row in screen.rows))
    image = Image.new("P", (wide * columns + 12, high * rows + 12), BACKGROUND)
    image.putpalette(bytes.fromhex("".join(PALETTE)))
    frames, before = [], PackedScreen(())
    for screen in screens:
        image = image.copy()
        pen = ImageDraw.Draw(image)
        pen.fontmode = "1"
        for row, text in enumerate(screen.rows):
            if _row(screen, row) != _row(before, row):
                top = 6 + row * high
                pen.rectangle((0, top, image.width, top + high - 1), BACKGROUND)
                for column, sign in enumerate(text):
                    if sign != " ":
                        colour = int(screen.colours[row][column] if screen.colours else GREY, 16)
                        pen.text((6 + column * wide, top), sign, colour, font)
        frames.append(image)
        before = screen
    times = round(1000 * SECONDS)
    frames[0].save(
        out, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False
    )


def _row(screen: PackedScreen, row: int) -> tuple[str, str]:
    if row >= len(screen.rows):
        return "", ""
    return screen.rows[row], screen.colours[row] if screen.colours else ""


def _font() -> Any:
    """DejaVu Sans Mono, which is bundled with matplotlib."""
    from matplotlib import get_data_path
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(get_data_path(), "fonts", "ttf", "DejaVuSansMono.ttf")), SIZE)
