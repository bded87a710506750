"""Loop detection: warns an agent that keeps giving the same answer to the same screen."""

from collections import Counter, deque
from collections.abc import Hashable

from msgspec.structs import replace

from balrog_rag.agents.base import Wrappable, Wrapper
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.config.agent_schema import LoopsConfig
from balrog_rag.contracts.data import Decision, Observation, Reply


class Loops(Wrapper):
    """Remembers which answer was given to which screen, and warns when a pair recurs too often."""

    def __init__(self, inner: Wrappable, config: LoopsConfig) -> None:
        """`config` sets how many repetitions make a loop, and how many past steps are compared."""
        super().__init__(inner)
        self.config = config
        self._past: deque[tuple[Hashable, str]] = deque(maxlen=config.window)
        self._screen: Hashable = None
        self._warned = False

    async def ask(self, observation: Observation) -> Prompt:
        """Return the inner agent's prompt, with a warning if this is a loop."""
        self._screen = self.signals.screen(observation)
        prompt = await self.inner.ask(observation)
        answers = Counter(action for place, action in self._past if place == self._screen)
        action, times = answers.most_common(1)[0] if answers else ("", 0)
        self._warned = times >= self.config.repeats
        if self._warned:
            window = len(self._past)
            prompt.after.append(self.prompts.render("loop", action=action, times=times, window=window))
        return prompt

    def read(self, reply: Reply) -> Decision:
        """Record the inner agent's answer to this screen."""
        decision = self.inner.read(reply)
        self._past.append((self._screen, decision.action))
        return replace(decision, notes={**decision.notes, "loop": True}) if self._warned else decision

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Record an answer that was decided elsewhere."""
        self._past.append((self.signals.screen(observation), decision.action))
        self.inner.recall(observation, decision)
