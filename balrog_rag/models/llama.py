"""llama.cpp in this process: one server whose slots batch concurrent calls and keep their prompts' heads."""

import os
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import ConfigError

_KEPT_PROMPTS = 512
"""MiB, taken as needed, for prompts that slots had before. The calls of a step differ by purpose, so each
would drive out the head that the next but one begins with, and reading it again takes seconds."""


LIBRARY = "xllamacpp"


def library() -> Any:
    """Import llama.cpp; a ConfigError says what to install."""
    # Threads that spin while they wait take the cores from the games; read when OpenMP is loaded.
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
    """A running llama.cpp server; it also listens on 127.0.0.1 at `listening_address`."""
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
