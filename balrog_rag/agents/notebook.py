"""A notebook that the agent writes, and that every prompt shows beside the history."""

from collections import deque

from msgspec.structs import replace

from balrog_rag.agents.answers import sections
from balrog_rag.agents.base import Wrappable, Wrapper
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.agents.untrusted import neutralised
from balrog_rag.config.agent_schema import NotebookConfig
from balrog_rag.contracts.data import Decision, Observation, Reply

NOTE = "<|NOTE|>"


class Notebook(Wrapper):
    """Keeps the newest notes and shows them before the newest observation."""

    def __init__(self, inner: Wrappable, config: NotebookConfig) -> None:
        """`config` limits how much is kept."""
        super().__init__(inner)
        self._chars = config.chars
        self._order = self.prompts.render("notebook_order", lines=config.lines)
        self._notes: deque[str] = deque(maxlen=config.lines)
        self._time = ""

    async def ask(self, observation: Observation) -> Prompt:
        """Return the inner agent's prompt with the notes and how to write one."""
        self._time = self.signals.time(observation.numbers)
        prompt = await self.inner.ask(observation)
        prompt.before.append(self.prompts.render("notebook", notes=list(self._notes)))
        prompt.order = f"{self._order}\n\n{prompt.order}"
        return prompt

    def read(self, reply: Reply) -> Decision:
        """Keep the notes in the answer; the inner agent parses the rest."""
        written, rest = self._keep(reply.text)
        decision = self.inner.read(replace(reply, text=rest))
        return replace(decision, answer=reply.text, notes={**decision.notes, "notes": written})

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Keep the notes of a decision made elsewhere, if it has any."""
        self._time = self.signals.time(observation.numbers)
        _, rest = self._keep(decision.answer)
        self.inner.recall(observation, replace(decision, answer=rest))

    def _keep(self, answer: str) -> tuple[int, str]:
        """Keep the notes of an answer; return their number and the rest of the answer."""
        found, rest = sections(answer, NOTE)
        begin = f"{self._time}: " if self._time else ""
        notes = [f"{begin}{neutralised(' '.join(note.split())[: self._chars])}" for note in found if note]
        self._notes.extend(notes)
        return len(notes), rest
