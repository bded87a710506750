"""Where a run's numbers come from: versions, prompts, machine, and every attempt at playing it."""

import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.results.run_folder import write_json
from balrog_rag.util.files import read_file
from balrog_rag.util.secrets import redact

PACKAGES = ("numpy", "litellm", "faiss-cpu", "bm25s", "tokenizers", "xllamacpp")


def versions(kinds: Iterable[EnvironmentKind]) -> dict[str, str]:
    """Return the versions, by package, that can change what an episode of these kinds is."""
    found = {"balrog_rag": __version__, "python": platform.python_version()}
    # Only packages of the kinds in play: upgrading another game must not make runs incomparable.
    for package in dict.fromkeys([*PACKAGES, *(name for kind in kinds for name in kind.sampling.packages)]):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def record_attempt(
    run: Path, prompts: dict[str, str], kinds: Iterable[EnvironmentKind], caps: Mapping[str, Any]
) -> None:
    """Add this attempt to run.json; `caps` are an episode's, which may change on resume."""
    path = run / "run.json"
    earlier = _earlier(path)
    attempt = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        # An API key passed on the command line must not end up in a file that people share.
        "command": redact(" ".join(["python -m balrog_rag.eval", *sys.argv[1:]])),
        "versions": versions(kinds),
        "prompts": prompts,
        "caps": dict(caps),
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
    }
    write_json(path, {"attempts": [*earlier, attempt]})


def _earlier(path: Path) -> list[Any]:
    try:
        attempts = msgspec.json.decode(read_file(path))["attempts"]
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return []  # a lost run.json costs the list of earlier attempts, not the run
    return attempts if isinstance(attempts, list) else []
