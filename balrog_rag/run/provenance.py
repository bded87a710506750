"""Where a run's numbers come from: versions, prompts, machine."""

import os
import platform
import sys
import time
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from balrog_rag import __version__
from balrog_rag.agents.prompts import fingerprint
from balrog_rag.config.frozen import plain
from balrog_rag.config.schema import CapConfig
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.util.secrets import redact

PACKAGES = ("numpy", "litellm", "faiss-cpu", "bm25s", "tokenizers", "xllamacpp")


def versions(kinds: Iterable[EnvironmentKind]) -> dict[str, str]:
    """Return the versions, by package, that can change what an episode of these kinds is."""
    found = {"balrog_rag": __version__, "python": platform.python_version()}
    # Only packages of the kinds in play: upgrading another game must not make runs incomparable.
    for package in dict.fromkeys([*PACKAGES, *(name for kind in kinds for name in kind.sampling.packages)]):
        if number := installed_version(package):
            found[package] = number
    return found


@cache
def installed_version(package: str) -> str:
    """Return a package's version, or "" without it. Reading it again takes milliseconds, at each run."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def provenance(kinds: Iterable[EnvironmentKind], caps: CapConfig) -> dict[str, Any]:
    """Return what one attempt at a run records; `caps` are an episode's, which may change on resume."""
    return {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        # An API key passed on the command line must not end up in a file that people share.
        "command": redact(" ".join(["python -m balrog_rag.eval", *sys.argv[1:]])),
        "versions": versions(kinds),
        "prompts": fingerprint(kinds),
        "caps": plain(caps),
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
    }
