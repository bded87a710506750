"""llama.cpp in this process: one server whose slots batch concurrent calls and keep prompt prefixes."""

import os
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import ConfigError

_KEPT_PROMPTS = 512
"""MiB, allocated as needed, for earlier prompts of slots. The calls of a step differ by purpose, so
without it each would evict the prefix of the next but one, and reading that again takes seconds."""


LIBRARY = "xllamacpp"


def library() -> Any:
    """Import llama.cpp; raise a ConfigError that says what to install."""
    # Waiting threads that spin would take the cores from the games; OpenMP reads this when loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError as error:
        raise ConfigError(
            f"model=local needs llama.cpp, which cannot be imported ({error}); "
            "pip install 'balrog_rag[local]', or choose another model=..."
        ) from error
    return xllamacpp


def start(path: Path, *, slots: int, slot_context: int, threads: int, port: int = 0) -> Any:
    """Start a llama.cpp server; it also listens on 127.0.0.1 at `listening_address`."""
    xllamacpp = library()
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_parallel = slots
    params.n_ctx = slots * slot_context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or os.cpu_count() or 1
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.ui = False
    params.verbosity = 0
    params.warmup = False
    params.cache_ram_mib = _KEPT_PROMPTS
    return xllamacpp.Server(params)
