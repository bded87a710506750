"""Models of the sentence-transformers library, for embedder and reranker; failures become one line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.integrity import records

EXTRA: Mapping[str, str] = {"sentence_transformers": "sentence-transformers"}
"""The library, and the extra that installs it."""
OPTIONS = "knowledge.options.sentence_transformers"
_LONGEST = 200


def load(kind: str, option: str, options: Mapping[str, Any], threads: int) -> Any:
    """Load the model that an option names, as this class of the library."""
    try:
        import sentence_transformers
        import torch
    except ImportError as error:
        raise KnowledgeError(
            "sentence_transformers needs its package: pip install 'balrog_rag[sentence-transformers]'"
        ) from error
    name = _place(option, options)
    torch.set_num_threads(threads)
    try:
        return getattr(sentence_transformers, kind)(name, device=options["device"])
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise KnowledgeError(
            f"{OPTIONS}.{option}={name}: sentence-transformers cannot load it ({_one_line(error)}); "
            "name a model of its hub, or a folder that its save() wrote"
        ) from error


def identity(option: str, options: Mapping[str, Any]) -> str:
    """Name a model; a folder by its contents, because another model can be saved into it."""
    name = _place(option, options)
    if not Path(name).is_dir():
        return name
    files = records(Path(name))
    return digest(repr([(path, files[path].sha256) for path in sorted(files)]))


def _place(option: str, options: Mapping[str, Any]) -> str:
    """Return the name or folder. Of a missing folder, the library would ask its hub for a minute."""
    name = str(options[option])
    place = Path(name).expanduser()
    if name.startswith(("/", ".", "~")) and not place.is_dir():
        raise KnowledgeError(f"{OPTIONS}.{option}={name}: no such folder; give the folder of a saved model")
    return str(place) if place.is_dir() else name


def _one_line(error: Exception) -> str:
    line = " ".join(str(error).partition("\n")[0].split()) or type(error).__name__
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."
