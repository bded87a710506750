"""Convert wiki markup to plain text in a separate process, so that no page can block for long."""

import signal
import subprocess
import sys
from contextlib import suppress

import msgspec

from balrog_rag.knowledge.corpus.wikitext_child import Job, Result

SECONDS = 10.0
"""Limit of processor time for a short page's markup; the wiki's longest page needs under a second."""
SECONDS_PER_MILLION = 10.0
"""Added to the limit for each million characters; ordinary markup needs about three seconds."""


class UnparsedPage(Exception):
    """A page whose markup was not parsed; the message is the reason."""


class WikitextProcess:
    """A child process that parses pages one by one; started at the first page, restarted if it ends."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """`seconds` is the limit of a short page."""
        self._seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "WikitextProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def plain(self, markup: str) -> str:
        """Return the text of a page; raise UnparsedPage if the parser fails or takes too long."""
        seconds = self._seconds + SECONDS_PER_MILLION * len(markup) / 1e6
        reply = self._reply(msgspec.json.encode(Job(markup, seconds)) + b"\n")
        if not reply.endswith(b"\n"):
            raise UnparsedPage(_reason(self._ended(), seconds))
        result = msgspec.json.decode(reply, type=Result)
        if result.error:
            raise UnparsedPage(f"the parser failed ({result.error})")
        return result.text

    def _reply(self, job: bytes) -> bytes:
        """Read the child's line; empty or incomplete if the child ended."""
        if self._child is None:
            command = [sys.executable, "-P", "-m", "balrog_rag.knowledge.corpus.wikitext_child"]
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(job)
            self._child.stdin.flush()
        except BrokenPipeError:
            return b""
        return self._child.stdout.readline()

    def _ended(self) -> int:
        """Wait for a child that closed its output; return its exit code."""
        assert self._child is not None
        code = self._child.wait()
        self._end()
        return code

    def _end(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        with suppress(BrokenPipeError), child:  # closing flushes what the child did not read
            pass


def _reason(code: int, seconds: float) -> str:
    """The reason why a child that ended with this code did not parse its page."""
    if code == -signal.SIGPROF:
        return f"its markup takes more than {seconds:.0f} s to parse"
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"the parser ended with {ended}"
