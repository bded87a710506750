"""The body of an answer in parts: decompressed, and never longer than allowed."""

import zlib
from collections.abc import AsyncIterable, AsyncIterator

GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


class Unreadable(Exception):
    """A body that is too long, or compressed in a way that was not requested."""


async def bounded(parts: AsyncIterable[bytes], packed: str, most: int, whole: bool) -> AsyncIterator[bytes]:
    """Yield the parts of a body with that Content-Encoding, at most `most` bytes.

    A longer body is cut, or refused if `whole` is set.
    """
    size = 0
    async for part in _unpacked(parts, packed.strip().lower(), most):
        size += len(part)
        if size > most:
            if whole:
                raise Unreadable(f"the answer is longer than {most} bytes; raise model.max_answer_bytes")
            yield part[: len(part) - (size - most)]
            return
        yield part


async def _unpacked(parts: AsyncIterable[bytes], packed: str, most: int) -> AsyncIterator[bytes]:
    """Yield the decompressed parts; none grows far beyond the bound."""
    if packed in ("", "identity"):
        async for part in parts:
            yield part
        return
    if packed not in ("gzip", "x-gzip", "deflate"):
        raise Unreadable(f"the answer is compressed as {packed[:20]}, which was not requested")
    unpacker = zlib.decompressobj(GZIP_OR_ZLIB)
    async for part in parts:
        # The bound per part stops a small compressed body from growing to gigabytes in one call.
        try:
            yield unpacker.decompress(part, most + 1)
        except zlib.error as error:
            raise Unreadable(f"the answer cannot be decompressed: {error}") from error
