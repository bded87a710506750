"""BALROG's few_shot: the naive agent after demonstrations, which come first in every prompt."""

from collections.abc import Iterator

import msgspec

from balrog_rag.agents.demonstration_files import load
from balrog_rag.agents.demonstrations import Demonstration
from balrog_rag.agents.naive import Naive
from balrog_rag.contracts.data import Message


class FewShot(Naive):
    """Shows other players' episodes before its own."""

    closing = "closing_few_shot"

    def head(self) -> tuple[Message, ...]:
        """Return the instruction, every demonstration, and a message that the game starts."""
        shown = list(self._demonstrations())
        begin = Message("user", self.prompts.render("demonstrations_over"), stable=True)
        first, *rest = super().head()
        return (msgspec.structs.replace(first, stable=False), *rest, *shown, begin)

    def _demonstrations(self) -> Iterator[Message]:
        """Yield demonstrations within BALROG's limit: messages count, and the one cut short is the last."""
        config = self.config
        left = config.max_icl_history
        episodes = load(config.demonstrations, config.demonstrations_digest)
        for number, episode in enumerate(episodes, start=1):
            yield Message("user", self.prompts.render("demonstration_begins", number=number))
            messages = list(self._messages(episode))
            yield from messages[:left]
            yield Message("user", self.prompts.render("demonstration_ends", number=number))
            left -= len(messages)
            if left < 0:
                return

    def _messages(self, episode: Demonstration) -> Iterator[Message]:
        for turn in episode.turns:
            yield self._observed(turn.observation)
            yield Message("assistant", turn.action)
        if episode.last is not None:
            yield self._observed(episode.last)

    def _observed(self, text: str) -> Message:
        return Message("user", self.prompts.exact("demonstration_observation", text=text))
