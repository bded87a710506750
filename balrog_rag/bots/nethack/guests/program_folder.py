"""The folder of a program: its location, its contents and its options."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import msgspec

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.files import read_file

ENTRY = "bot.py"
MOST_FILES, MOST_BYTES = 5_000, 256 << 20
_LEFT_OUT = frozenset(("__pycache__", ".git", ".venv", ".mypy_cache", ".ruff_cache"))


class GuestOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a program in agent.options."""

    path: str
    """The folder with its `bot.py`, or the file of a function."""
    function: str = ""
    """The function of a file that takes an observation and returns an action; empty for a folder."""
    digest: str | None = None
    """Digest of the program; taken when a run starts, and checked from then on."""
    seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 120.0
    """Limit of processor time for one action."""
    start_seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 120.0
    """The same for loading the program and its first action."""
    memory_mb: Annotated[int, msgspec.Meta(ge=64)] = 4096
    """Memory limit."""


def options_of(options: Mapping[str, Any], name: str) -> GuestOptions:
    """Parse the options; raise a ConfigError for invalid ones."""
    if not options.get("path"):
        raise ConfigError(f"agent.options.path: agent={name} plays a folder with a {ENTRY}; name it there")
    try:
        return msgspec.convert(dict(options), GuestOptions)
    except msgspec.ValidationError as error:
        raise ConfigError(f"agent.options: {error}") from error


def settled(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the options with the digest of the folder's current content."""
    found = options_of(options, name)
    held = file_digest(found) if found.function else folder_digest(Path(found.path))
    if found.digest is not None and found.digest != held:
        raise ConfigError(
            f"{found.path}: is not the program that this run started with "
            f"(digest {held[:12]} instead of {found.digest[:12]}); restore it, or start a new run"
        )
    return dict(msgspec.structs.asdict(msgspec.structs.replace(found, digest=held)))


def checked(options: Mapping[str, Any]) -> GuestOptions:
    """Return the options of a program about to run, after comparing its folder with the digest."""
    return msgspec.convert(dict(settled(options, "program")), GuestOptions)


def file_digest(options: GuestOptions) -> str:
    """Digest a function's file and name."""
    path = Path(options.path)
    if not path.is_file() or not options.function.isidentifier():
        raise ConfigError(f"agent={path}:{options.function}: no such file; write agent=FILE.py:NAME")
    content = read_file(path)
    if f"def {options.function}(".encode() not in content:
        raise ConfigError(
            f"agent={path}:{options.function}: the file defines no function or class of that name"
        )
    return digest(content + b"\0" + options.function.encode())


def folder_digest(folder: Path) -> str:
    """Return a digest of every file's name and content, except caches, .git and .venv."""
    if not (folder / ENTRY).is_file():
        raise ConfigError(f"agent.options.path={folder}: has no {ENTRY} that defines make_agent()")
    parts, size = [], 0
    for path in sorted(folder.rglob("*")):
        if _LEFT_OUT.intersection(path.relative_to(folder).parts) or not path.is_file():
            continue
        content = read_file(path)
        size += len(content)
        parts.append(f"{path.relative_to(folder)}\0{digest(content)}")
        if len(parts) > MOST_FILES or size > MOST_BYTES:
            raise ConfigError(
                f"agent.options.path={folder}: contains too much for a program; move it to a folder"
            )
    return digest("\n".join(parts))


def autoascend_folder() -> Path:
    """The folder in which the package nethackers keeps AutoAscend."""
    spec = find_spec("nethackers")
    if spec is None or spec.origin is None or find_spec("numba") is None:
        raise ConfigError("agent=autoascend needs an extra: pip install 'balrog_rag[autoascend]'")
    return Path(spec.origin).parent / "roots" / "autoascend"
