"""Child process that renders untrusted templates within limits on memory, processor time and size.

It reads requests from standard input and writes a response to each to standard output, both length-prefixed.
A template that uses too much processor time kills only this process.
"""

import json
import resource
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_OUTPUT = 1_000_000
"""Maximum characters of a rendered template."""
MOST_ITERATIONS = 100_000
"""Maximum iterations of all loops of a template together."""
MOST_SECONDS = 1.0
"""Processor seconds per request."""
MOST_MEMORY = 1 << 30
"""Bytes of address space."""
LENGTH_BYTES = 4
DONE, FAILED = b"+", b"-"


def environment() -> ImmutableSandboxedEnvironment:
    """The Jinja environment for prompts, here and, for the package's own prompts, in the main process."""
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def said(error: Exception) -> str:
    """Describe an error of a template on one line; Jinja's own errors are specific enough."""
    if isinstance(error, MemoryError):
        return f"needs more than {MOST_MEMORY >> 20} MB of memory"
    text = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


class _Rounds:
    """Counts the iterations of a template's loops."""

    def __init__(self) -> None:
        self.left = MOST_ITERATIONS

    def __call__(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.left -= 1
            if self.left < 0:
                raise TemplateError(f"loops more than {MOST_ITERATIONS:,} times")
            yield item


class Renderer:
    """Renders untrusted templates; time and memory are limited by its process."""

    def __init__(self) -> None:
        self._rounds = _Rounds()
        self._environment = environment()
        self._environment.filters[_COUNTED] = self._rounds
        self.compiled = lru_cache(maxsize=64)(self._compile)

    def render(self, text: str, values: Mapping[str, Any]) -> str:
        """Render the template with these values."""
        self._rounds.left = MOST_ITERATIONS
        parts, size = [], 0
        for part in self.compiled(text).generate(values):
            size += len(part)
            if size > MOST_OUTPUT:
                raise TemplateError(f"makes more than {MOST_OUTPUT:,} characters")
            parts.append(part)
        return "".join(parts)

    def wants(self, text: str) -> str:
        """Return the names of the values that a template uses, separated by spaces."""
        return " ".join(sorted(meta.find_undeclared_variables(self._environment.parse(text))))

    def _compile(self, text: str) -> Template:
        tree = self._environment.parse(text)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno)
        tree.set_environment(self._environment)
        code = self._environment.compile(tree)
        return Template.from_code(self._environment, code, self._environment.make_globals(None))


_COUNTED = "counted rounds"
"""Not a name that a template can contain."""


def answer(renderer: Renderer, order: bytes) -> bytes:
    """Handle a request: render a template, compile it, or list the values that it uses."""
    what, text, values = json.loads(order)
    try:
        if what == "wants":
            made = renderer.wants(text)
        elif what == "check":
            made = str(bool(renderer.compiled(text)))
        else:
            made = renderer.render(text, values)
        return DONE + made.encode("utf-8", "surrogatepass")
    except Exception as error:  # noqa: BLE001 - a template is a program and may raise anything
        return FAILED + said(error).encode("utf-8", "replace")


def main() -> None:
    """Answer requests until the input ends."""
    for limit, most in ((resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):  # not every system has this limit
            resource.setrlimit(limit, (most, most))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    renderer, orders, answers = Renderer(), sys.stdin.buffer, sys.stdout.buffer
    while len(length := orders.read(LENGTH_BYTES)) == LENGTH_BYTES:
        order = orders.read(int.from_bytes(length, "big"))
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)  # its signal ends this process
        made = answer(renderer, order)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(len(made).to_bytes(LENGTH_BYTES, "big") + made)
        answers.flush()


if __name__ == "__main__":
    main()
