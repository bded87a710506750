"""A model that answers from journals: what a real model once said to the same prompt, at no cost."""

from collections import defaultdict, deque
from pathlib import Path

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Reply, Request
from balrog_rag.contracts.errors import ConfigError, ModelRefused
from balrog_rag.episode.journal import Completion, read
from balrog_rag.models.backend_options import read_options


class ReplayOptions(msgspec.Struct, frozen=True):
    """What conf/model/replay.yaml may set under `options`."""

    journal: str


class ReplayingModel:
    """Gives each prompt the answers it got in the journals, in the order they were given."""

    def __init__(self, config: ModelConfig) -> None:
        self.name = config.name
        self._path = Path(read_options(config.options, ReplayOptions).journal)
        self._replies = recorded_replies(self._path)

    async def complete(self, request: Request) -> Reply:
        """The next recorded answer to this prompt; the last one again where it is asked more often."""
        replies = self._replies.get(request.digest)
        if not replies:
            raise ModelRefused(
                f"model {self.name}: {self._path} has no answer to this {request.purpose} prompt "
                f"(digest {request.digest}); agent, prompts, game or seeds differ from those recorded"
            )
        return replies.popleft() if len(replies) > 1 else replies[0]

    async def close(self) -> None:
        """Nothing to give back."""


def recorded_replies(path: Path) -> dict[str, deque[Reply]]:
    """The answers in a journal, or in every journal below a folder, by the digest of their request."""
    files = sorted(path.rglob("*.journal.jsonl")) if path.is_dir() else [path]
    if not files or not path.exists():
        raise ConfigError(f"model.options.journal={path}: no journal there")
    replies: dict[str, deque[Reply]] = defaultdict(deque)
    for file in files:
        for entry in read(file).entries:
            if isinstance(entry, Completion):
                replies[entry.request].append(entry.reply)
    return dict(replies)
