"""Untrusted templates, rendered in a separate process (`util.template_worker`).

A prompt in a configuration may come from another person's run folder, and a template can loop forever or
request all memory in a single operation that nothing in its own process could interrupt.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.util.template_worker import DONE, LENGTH_BYTES, MOST_OUTPUT, MOST_SECONDS

MOST_SOURCE = 200_000
"""Longest template, in characters."""
LONGEST_WAIT = 120.0
"""Seconds of wall time per order, in case the limit on processor time does not end it."""
END_SECONDS = 1.0
"""Seconds for the process to end by itself when its input ends."""
_LONGEST = 4 * MOST_OUTPUT + 1


class TemplateRefused(Exception):
    """Says what is wrong with a template, on one line."""


def render(text: str, values: Mapping[str, Any]) -> str:
    """Render the template; raise TemplateRefused if it is invalid or exceeds the limits."""
    return _process.ask("render", text, values)


def check(text: str) -> None:
    """Raise TemplateRefused if a template cannot be compiled."""
    _process.ask("check", text, {})


def wants(text: str) -> list[str]:
    """Return the names of the values that a template uses."""
    return _process.ask("wants", text, {}).split()


class _TemplateProcess:
    """The rendering process, started on first use, and again after a template has killed it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._deadly: dict[str, str] = {}
        """Templates that exceeded a limit. Each costs its seconds once, not in every episode."""

    def ask(self, what: str, text: str, values: Mapping[str, Any]) -> str:
        """Send an order and return its result."""
        if len(text) > MOST_SOURCE:
            raise TemplateRefused(f"has {len(text):,} characters; use at most {MOST_SOURCE:,}")
        order = json.dumps((what, text, _plain(dict(values)))).encode()  # escapes lone surrogates, too
        with self._lock:
            if text in self._deadly:
                raise TemplateRefused(self._deadly[text])
            process = self._running()
            try:
                made = self._exchange(process, order)
            except (OSError, EOFError) as error:
                self._end()
                self._deadly[text] = _how(process.returncode)
                raise TemplateRefused(self._deadly[text]) from error
        if made[:1] != DONE:
            raise TemplateRefused(made[1:].decode("utf-8", "replace"))
        return made[1:].decode("utf-8", "surrogatepass")

    def _exchange(self, process: "subprocess.Popen[bytes]", order: bytes) -> bytes:
        assert process.stdin is not None
        process.stdin.write(len(order).to_bytes(LENGTH_BYTES, "big") + order)
        process.stdin.flush()
        length = int.from_bytes(self._read(process, LENGTH_BYTES), "big")
        if length > _LONGEST:
            raise EOFError
        return self._read(process, length)

    @staticmethod
    def _read(process: "subprocess.Popen[bytes]", size: int) -> bytes:
        assert process.stdout is not None
        number, data = process.stdout.fileno(), b""
        while len(data) < size:
            ready = select.poll()
            ready.register(number, select.POLLIN)
            part = os.read(number, size - len(data)) if ready.poll(LONGEST_WAIT * 1000) else b""
            if not part:
                raise EOFError
            data += part
        return data

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._end()
            root = str(Path(__file__).resolve().parents[3])
            path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
            self._process = subprocess.Popen(
                [sys.executable, "-m", "balrog_rag.util.template_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # so that Ctrl-C in a terminal reaches only the parent
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):  # closing flushes data that can no longer be delivered
                        stream.close()
            with suppress(subprocess.TimeoutExpired):  # gives it time, so that its own exit code is seen
                process.wait(END_SECONDS)
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()


def _how(code: int) -> str:
    """Describe what a template did to end its process."""
    if code == -signal.SIGPROF:
        return f"takes more than {MOST_SECONDS:g} s of processor time"
    return f"breaks the process that renders it (exit code {code})"


def _plain(values: dict[str, Any]) -> Any:
    """Convert values to built-in types, the form in which a template sees them in the other process."""
    return msgspec.to_builtins(values, enc_hook=_other)


def _other(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_process = _TemplateProcess()
atexit.register(_process.close)
