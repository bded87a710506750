"""Several actions in one answer, with a guard that stops them at the first sign of danger."""

from collections import deque

from msgspec.structs import replace

from balrog_rag.agents.answers import read
from balrog_rag.agents.base import Wrappable, Wrapper
from balrog_rag.agents.noticing import danger
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.agents.tool_answers import MOST_AT_ONCE
from balrog_rag.config.agent_schema import BatchConfig
from balrog_rag.contracts.data import Decision, Observation, Reply


class Batch(Wrapper):
    """Answers later steps from its queue, without a model call. Must be the outermost wrapper."""

    def __init__(self, inner: Wrappable, config: BatchConfig, lenient: bool) -> None:
        """`config.size` limits the actions of one answer."""
        super().__init__(inner)
        self.config, self._lenient = config, lenient
        words = "batch_tools" if self.tools is not None else "batch"
        self._order = self.prompts.render(words, size=config.size) if config.size > 1 else ""
        self._most = config.size if config.size > 1 else MOST_AT_ONCE
        self._queue: deque[str] = deque()
        self._last: Observation | None = None
        self._stopped = ""

    async def act(self, observation: Observation) -> Decision:
        """Return the next planned action, or ask for a new plan if none is left or something changed."""
        before, self._last = self._last, observation
        reason = danger(self.signals, before, observation, self.config.low) if before and self._queue else ""
        if self._queue and not reason:
            decision = Decision(self._queue.popleft(), notes={"batch": "queued"})
            self.inner.recall(observation, decision)
            return decision
        self._stop(reason)
        return await super().act(observation)

    async def ask(self, observation: Observation) -> Prompt:
        """Add the permission to plan ahead, and a remark if the last plan was cut short."""
        prompt = await self.inner.ask(observation)
        if self._stopped:
            prompt.before.append(self._stopped)
        # No plans while hit points are low: the next look at the screen matters more than a saved call.
        if self._order and self.signals.health(observation.numbers) >= self.config.low:
            prompt.more.append(self._order)
        return prompt

    def read(self, reply: Reply) -> Decision:
        """Return the first action; the valid ones after it are queued for the next steps."""
        decision = self.inner.read(replace(reply, text=self.style.first(reply.text, self.view)))
        if self.view.takes(decision.action):
            self._queue.extend(self._rest(reply.text))
        return replace(decision, answer=reply.text, notes={**decision.notes, "batch": 1 + len(self._queue)})

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Drop the plan, since somebody else has decided."""
        self._queue.clear()
        self._last = observation
        self.inner.recall(observation, decision)

    def _rest(self, text: str) -> list[str]:
        """Return the actions after the first, up to the first invalid one."""
        rest = []
        for part in self.style.several(text, self.view)[1 : self._most]:
            action = read(part, self.style.bare(), self.view, self._lenient).action
            if not self.view.takes(action):
                break
            rest.append(action)
        return rest

    def _stop(self, reason: str) -> None:
        self._stopped = ""
        if self._queue:
            self._stopped = self.prompts.render("batch_stopped", reason=reason, actions=list(self._queue))
            self._queue.clear()
