"""A model that answers from journals: a real model's answers to the same prompts, at no cost."""

from collections import defaultdict, deque
from pathlib import Path

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Reply, Request
from balrog_rag.contracts.errors import ConfigError, ModelRefused
from balrog_rag.episode.journal import Completion, read
from balrog_rag.models.backend_options import read_options


class ReplayOptions(msgspec.Struct, frozen=True):
    """The options that conf/model/replay.yaml may set."""

    journal: str


class ReplayingModel:
    """Returns for each prompt the journaled answers, in their order."""

    def __init__(self, config: ModelConfig) -> None:
        self.name = config.name
        self._path = Path(read_options(config.options, ReplayOptions).journal)
        self._replies = recorded_replies(self._path)

    async def complete(self, request: Request) -> Reply:
        """Return the next recorded answer to this prompt; the last one again once all are used."""
        replies = self._replies.get(request.digest)
        if not replies:
            raise ModelRefused(
                f"model {self.name}: {self._path} has no answer to this {request.purpose} prompt "
                f"(digest {request.digest}); agent, prompts, game or seeds differ from those recorded"
            )
        return replies.popleft() if len(replies) > 1 else replies[0]

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def recorded_replies(path: Path) -> dict[str, deque[Reply]]:
    """Return the answers in a journal, or in all journals below a folder, by the request's digest."""
    files = sorted(path.rglob("*.journal.jsonl")) if path.is_dir() else [path]
    if not files or not path.exists():
        raise ConfigError(f"model.options.journal={path}: no journal found; use a journal or a run folder")
    replies: dict[str, deque[Reply]] = defaultdict(deque)
    for file in files:
        for entry in read(file).entries:
            if isinstance(entry, Completion):
                replies[entry.request].append(entry.reply)
    return dict(replies)
