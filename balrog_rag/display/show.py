"""A watcher that prints an episode as it is replayed; all text from games and models is made inert."""

from collections.abc import Sequence

from balrog_rag.contracts.data import Decision, Observation, Passage, Purpose, Reply, Request, Transition
from balrog_rag.run.replay import Verdict
from balrog_rag.run.watchers import Unwatched
from balrog_rag.util.terminal_safe import inert, one_line

RULE = "─" * 78


class Shown(Unwatched):
    """Prints every step, or one."""

    def __init__(self, only: int | None, brief: bool) -> None:
        self._only, self._brief = only, brief

    def _wanted(self, step: int) -> bool:
        return self._only is None or step == self._only

    def started(self, episode: str, observation: Observation) -> None:
        """The title."""
        print(f"episode {inert(episode)}")

    def asked(self, episode: str, step: int, request: Request) -> None:
        """The exact prompt."""
        if self._brief or not self._wanted(step):
            return
        print(f"{RULE}\nstep {step}: {request.purpose} prompt, digest {request.digest}")
        for message in request.messages:
            pictures = f" (+{len(message.images)} images)" if message.images else ""
            print(f"[{message.role}]{pictures}\n{inert(message.text)}")

    def answered(self, episode: str, step: int, purpose: Purpose, reply: Reply, live: bool) -> None:
        """The answer and what it cost."""
        if self._brief or not self._wanted(step):
            return
        cost = "unknown price" if reply.cost is None else f"${reply.cost:.6f}"
        used = reply.usage
        print(
            f"[answer to {purpose}: {used.input} tokens in, {used.output} out, {cost}]\n{inert(reply.text)}"
        )

    def looked_up(self, episode: str, step: int, query: str, passages: Sequence[Passage]) -> None:
        """The search and what it found."""
        if self._brief or not self._wanted(step):
            return
        print(f"[search] {inert(query)}")
        for passage in passages:
            print(f"  {passage.score:.4f}  {one_line(passage.title)}  ({one_line(passage.id)})")

    def stepped(self, episode: str, step: int, decision: Decision, taken: str, after: Transition) -> None:
        """The action and the screen that came of it."""
        if not self._wanted(step):
            return
        stats = after.observation.stats
        note = "" if decision.action == taken else f"  (answer {inert(decision.action)!r} is no valid action)"
        print(
            f"step {step}: {inert(taken)}{note}  Dlvl {stats.depth} XL {stats.experience_level} "
            f"HP {stats.hp}/{stats.max_hp} T {stats.turn} reward {after.reward:g}"
        )
        if not self._brief:
            print(inert(after.observation.message) + "\n" + inert(after.observation.map))

    def close(self, verdict: Verdict) -> None:
        """The last line."""
        print(f"{verdict.steps} steps, {'to the end' if verdict.complete else 'not finished'}; replay equal")
