"""The process that converts wiki markup to plain text: one JSON string per line in, one JSON object out.

The markup of a dump is untrusted, and its parser is C code that no exception can interrupt. So every page has
a limit of processor time, after which the system ends this process.
"""

import signal
import sys

import msgspec

from balrog_rag.knowledge.corpus import wikitext


class Job(msgspec.Struct, frozen=True):
    """A page to parse."""

    markup: str
    seconds: float
    """Its limit of processor time."""


class Result(msgspec.Struct, frozen=True):
    """A page's text, or the reason why there is none."""

    text: str = ""
    error: str = ""


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends this process
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, also inside C code
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    decoder = msgspec.json.Decoder(Job)
    for line in sys.stdin.buffer:
        job = decoder.decode(line)
        signal.setitimer(signal.ITIMER_PROF, job.seconds)
        result = _result(job.markup)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
        sys.stdout.buffer.flush()


def _result(markup: str) -> Result:
    try:
        return Result(text=wikitext.plain(markup))
    except Exception as error:  # noqa: BLE001 - whatever a page makes the parser raise concerns it alone
        return Result(error=f"{type(error).__name__}: {str(error)[:200]}")


if __name__ == "__main__":
    main()
