"""A run folder that exists, read once: what is checked of it is what is used."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.run_folder import CONFIG, FORKED, SWEEP, decoded_config, decoded_specs
from balrog_rag.results.run_seal import MARK, is_sealed_here
from balrog_rag.util.files import read_file


class StoredRun(msgspec.Struct, frozen=True):
    """What determines how a run is resumed."""

    folder: Path
    config: dict[str, Any]
    """The frozen configuration, as plain settings."""
    forked: Sequence[EpisodeSpec] = ()
    """The episodes that a fork wrote down; empty: the configuration plans them."""
    own: bool = False
    """Whether this user made the folder here, or trusted it, and nobody has changed it since."""


def read_run(folder: Path) -> StoredRun:
    """Read a run folder; raises RunFolderError if it is not one."""
    files = read_sealed(folder, CONFIG)
    forked = decoded_specs(folder / FORKED, files[FORKED]) if FORKED in files else ()
    own = is_sealed_here(folder, files, files.get(MARK, b""))
    return StoredRun(folder, decoded_config(folder / CONFIG, files[CONFIG]).config, forked, own)


def read_sealed(folder: Path, needed: str) -> dict[str, bytes]:
    """Return the content of each file by which a run or sweep is resumed; one of them must be there."""
    files = {}
    for name in (CONFIG, FORKED, SWEEP, MARK):
        try:
            files[name] = read_file(folder / name)
        except (FileNotFoundError, NotADirectoryError) as error:
            if name == needed:
                what = "a sweep" if name == SWEEP else "a run folder"
                raise RunFolderError(f"{folder}: not {what} ({name}: {error.strerror})") from error
        except OSError as error:
            if name != MARK:  # without a mark that can be read, the folder is a stranger's
                raise RunFolderError(f"{folder / name}: cannot be read ({error.strerror})") from error
    return files
