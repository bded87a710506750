"""Run whole commands as a user does."""

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.envs.nethack.observe import NUMBERS
from balrog_rag.episode import chain, journal
from balrog_rag.episode.journal import VERSION
from balrog_rag.results.episodes import Episode
from balrog_rag.util.fetch import cache_folder
from tests import preloaded

PATIENCE = 600.0
"""Seconds that tests wait for a process or an event; a busy machine may need minutes."""
TIMES = {"latency", "seconds", "attempts", "chain"}
"""Fields of a journal that depend on how fast it was played."""
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "ANTHROPIC"))}


def own_cache(cache: Path) -> Path:
    """A separate cache for built files; downloaded weights are shared with the user's."""
    fetched = cache_folder() / "files"
    fetched.mkdir(parents=True, exist_ok=True)
    cache.mkdir(exist_ok=True)
    (cache / "files").symlink_to(fetched)
    return cache


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let files of this process and its children grow to `size` bytes only.

    Modules compiled meanwhile are not cached: Python would store the beginning of a larger one as the whole.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    caching, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = caching
        del os.environ["PYTHONDONTWRITEBYTECODE"]


def plug_in(site: Path, group: str, name: str, code: str) -> str:
    """Install a package in `site` that registers its `Plugged`; return the PYTHONPATH that finds it."""
    module = f"plugged_{name}"
    info = site / f"{module}-1.dist-info"
    info.mkdir(parents=True)
    (site / f"{module}.py").write_text(code)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[balrog_rag.{group}]\n{name} = {module}:Plugged\n")
    return os.pathsep.join([str(site), *filter(None, [CLEAN.get("PYTHONPATH")])])


def until(holds: Callable[[], Any], what: str = "", pause: float = 0.02) -> Any:
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(pause)
    raise AssertionError(f"not within {PATIENCE:g} s: {what or 'the awaited event'}")


def command(module: str, *words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m module words...` to its end. The test's own time limit ends a hanging one."""
    inherited = {**CLEAN, **environment}
    if done := preloaded.run(module, words, cwd, inherited):
        return done
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=cwd,
        env=inherited,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def evaluate(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m balrog_rag.eval words...` with the scripted model, and one process for the games."""
    return command("balrog_rag.eval", "model=scripted", "runner.workers=1", *words, cwd=cwd, **environment)


def edit_journal(path: Path, kind: str, change: Callable[[dict[str, Any]], object], at: int = 0) -> None:
    """Change the journal's entry of this kind, the first or the one at that position, and forge the chain."""
    lines = path.read_bytes().splitlines(keepends=True)
    found = [place for place, line in enumerate(lines) if line.startswith(b'{"t":"%s"' % kind.encode())]
    entry = msgspec.json.decode(lines[found[at]])
    change(entry)
    lines[found[at]] = msgspec.json.encode(entry) + b"\n"
    path.write_bytes(rechained(b"".join(lines)))


def timeless(path: Path) -> list[object]:
    """A journal without times, and without the digests that depend on them."""

    def strip(value: object) -> object:
        if isinstance(value, dict):
            return {name: strip(inner) for name, inner in value.items() if name not in TIMES}
        return value

    return [strip(msgspec.json.decode(line)) for line in journal.read_bytes(path).splitlines()]


def rechained(data: bytes) -> bytes:
    """Lines with a new chain, as a forger computes it; lines that are not JSON objects are kept."""
    made, link = [], chain.START
    for line in data.splitlines(keepends=True):
        bare = re.sub(rb',"chain":"[0-9a-f]*"}$', b"}", line.rstrip(b"\n"))
        if bare.endswith(b"}") and line.endswith(b"\n"):
            line, link = chain.chained_line(link, bare)
        made.append(line)
    return b"".join(made)


def unstored(episode: Episode) -> Episode:
    """The same episode with all of its fields in memory, as it was when its journal was read."""
    return Episode(**{name: getattr(episode, name) for name in Episode.__struct_fields__})


def unchained(data: bytes) -> bytes:
    """The journal as version 1 wrote it."""
    return re.sub(rb',"chain":"[0-9a-f]{32}"}', b"}", data).replace(b'"v":%d' % VERSION, b'"v":1', 1)


def numbers(**moved: int) -> dict[str, int]:
    """The numbers of a moment of NetHack, 0 by default."""
    return dict.fromkeys(NUMBERS, 0) | moved
