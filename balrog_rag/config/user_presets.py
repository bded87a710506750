"""A user's own presets: `conf_dir=DIR`, whose agent/, env/, experiment/ files are found like those of conf/.

They are settings only, composed and checked like the built-in ones. A file cannot replace a built-in preset,
so that a name means the same in everybody's runs.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.paths import data

KEY = "conf_dir"
ARMS = "arms"
"""Folder in it with the arms of experiments, as eval/experiments has those of the built-in ones."""
EXPERIMENT = "experiment"
FOR_ALL_GROUPS = "# @package _global_"
"""The header of presets that set keys of several groups."""
_current: ContextVar[Path | None] = ContextVar("conf_dir", default=None)


def split(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return the folder named by `conf_dir=`, checked, and the other overrides."""
    given = [word.partition("=")[2] for word in words if word.partition("=")[0] == KEY]
    others = [word for word in words if word.partition("=")[0] != KEY]
    if not given:
        return None, others
    folder = Path(given[-1].strip("'\"")).expanduser()
    if not given[-1] or not folder.is_dir():
        raise ConfigError(f"{KEY}={given[-1]}: no such folder; name one with agent/, env/ or experiment/")
    _check(folder)
    return folder.resolve(), others


def _check(folder: Path) -> None:
    """Refuse files that Hydra would not find, or that have a built-in preset's name."""
    root = data("conf")
    groups = sorted(path.name for path in root.iterdir() if path.is_dir())
    presets = list(folder.glob("*/*.yaml"))
    for path in presets:
        group = path.parent.name
        if group not in (*groups, ARMS):
            raise ConfigError(f"{path}: no such group; use {', '.join(groups)}")
        if (root / group / path.name).exists():
            raise ConfigError(f"{path}: {group}={path.stem} is built in; choose another name")
        if group == EXPERIMENT and not _begins_with(path, FOR_ALL_GROUPS):
            raise ConfigError(f"{path}: its first line must be `{FOR_ALL_GROUPS}`; add it")
    if not presets:
        raise ConfigError(f"{KEY}={folder}: contains no preset, such as agent/mine.yaml")


def _begins_with(path: Path, line: str) -> bool:
    """Whether this is the first line of a file that is not empty; Hydra reads headers only there."""
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(512)
    return text.lstrip().partition("\n")[0].split() == line.split()


@contextmanager
def found_in(folder: Path | None) -> Iterator[None]:
    """Find the presets of this folder too while the body runs."""
    token = _current.set(folder)
    try:
        yield
    finally:
        _current.reset(token)


def options(group: str) -> set[str]:
    """The options that the current folder adds to a group."""
    folder = _current.get()
    return set() if folder is None else {path.stem for path in (folder / group).glob("*.yaml")}


def search_path(folder: Path | None) -> list[str]:
    """The override that makes Hydra search the folder."""
    if folder is None:
        return []
    escaped = str(folder).replace("\\", "\\\\").replace("'", "\\'")
    return [f"hydra.searchpath=['file://{escaped}']"]
