"""The body of an answer, part by part: unpacked, and never more of it than may be read."""

import zlib
from collections.abc import AsyncIterable, AsyncIterator

GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


class Unreadable(Exception):
    """A body that is too long, or packed in a way that nobody asked for."""


async def bounded(parts: AsyncIterable[bytes], packed: str, most: int, whole: bool) -> AsyncIterator[bytes]:
    """The parts of a body with that Content-Encoding; one beyond the bound is cut, or refused where it is
    wanted whole."""
    size = 0
    async for part in _unpacked(parts, packed.strip().lower(), most):
        size += len(part)
        if size > most:
            if whole:
                raise Unreadable(f"the answer is longer than {most} bytes; see model.max_answer_bytes")
            yield part[: len(part) - (size - most)]
            return
        yield part


async def _unpacked(parts: AsyncIterable[bytes], packed: str, most: int) -> AsyncIterator[bytes]:
    """The same parts unpacked; none of them grows far beyond the bound."""
    if packed in ("", "identity"):
        async for part in parts:
            yield part
        return
    if packed not in ("gzip", "x-gzip", "deflate"):
        raise Unreadable(f"the answer is packed as {packed[:20]}, which nobody asked for")
    unpacker = zlib.decompressobj(GZIP_OR_ZLIB)
    async for part in parts:
        try:
            yield unpacker.decompress(part, most + 1)
        except zlib.error as error:
            raise Unreadable(f"the answer cannot be unpacked: {error}") from error
