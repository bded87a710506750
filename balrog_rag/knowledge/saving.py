"""Passages that would have prevented an end of a game, by the class of that end."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.util.files import read_file
from balrog_rag.util.paths import data

CORPUS, TOKENS = "embedded", 240
"""The bundled corpus, for which the bundled table is written."""
MOST = 3
"""Passages per class of end."""


def read_saving(path: Path) -> dict[str, list[str]]:
    """Read the helpful passages by class of end: each an id or a prefix of ids."""
    try:
        return msgspec.yaml.decode(read_file(path), type=dict[str, list[str]])
    except (OSError, msgspec.DecodeError) as error:
        raise KnowledgeError(f"cannot read the saving passages in {path}: {error}") from error


def check_saving(saving: Mapping[str, Sequence[str]], passages: Sequence[Passage], name: str) -> None:
    """Check that every helpful passage is in the corpus; otherwise shares would silently be too low."""
    known = {passage.id for passage in passages}
    for cause, ids in saving.items():
        for wanted in ids:
            if wanted not in known:
                raise KnowledgeError(
                    f"the passage {wanted} that saves from {cause!r} is not in corpus {name}; "
                    "name this corpus's own with --saving"
                )


def saving_passages(causes: Collection[str]) -> dict[str, list[Passage]]:
    """Return passages of the bundled guide that prevent each of these ends, as far as there are any."""
    table = read_saving(data("wiki_index") / "saving.yaml")
    wanted = {cause: table[cause] for cause in causes if cause in table}
    known = _guide() if wanted else {}
    return {cause: [known[each] for each in ids if each in known][:MOST] for cause, ids in wanted.items()}


@cache
def _guide() -> dict[str, Passage]:
    from balrog_rag.knowledge.corpus import load  # takes a second
    from balrog_rag.knowledge.passages import Cut

    return {passage.id: passage for passage in load(CORPUS, Cut(TOKENS)).passages}
