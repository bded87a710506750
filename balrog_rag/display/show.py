"""A watcher that prints an episode while it is replayed; all text is made safe for the terminal."""

from collections.abc import Callable, Sequence

from balrog_rag.contracts.data import ToolCall
from balrog_rag.contracts.errors import PluginError
from balrog_rag.contracts.events import Answered, Asked, Ended, Event, Searched, Started, Stepped
from balrog_rag.contracts.kinds import EnvironmentKind, Numbers, kind_of
from balrog_rag.contracts.outcome import in_words
from balrog_rag.contracts.tool_calls import calls_text
from balrog_rag.run.replay import Verdict
from balrog_rag.util.terminal_safe import one_line, terminal_safe
from balrog_rag.util.wording import many

RULE = "─" * 78
MESSAGE = 120
"""Characters of the game's message per line of `--brief`."""


class Printer:
    """Prints every step, or a single one."""

    def __init__(self, only: int | None, brief: bool, restore: Callable[[str], str] | None = None) -> None:
        """`restore` puts the original names into prompts and answers."""
        self._restore = restore or (lambda text: text)
        self._only, self._brief = only, brief
        self._end = ""

    def see(self, event: Event) -> None:
        """Print the event if it was requested."""
        if isinstance(event, Started):
            print(f"episode {terminal_safe(event.episode)}")
        elif isinstance(event, Ended):
            self._end = ": ".join(filter(None, (in_words(event.outcome), event.how)))
        elif isinstance(event, Asked | Answered | Searched | Stepped) and self._wanted(event.step):
            if isinstance(event, Stepped):
                self._step(event)
            elif not self._brief:
                self._exchange(event)

    def _wanted(self, step: int) -> bool:
        return self._only is None or step == self._only

    def _exchange(self, event: Asked | Answered | Searched) -> None:
        """Print the exact prompt; the answer with its cost; the search with its results."""
        if isinstance(event, Asked):
            print(f"{RULE}\nstep {event.step}: {event.request.purpose} prompt, digest {event.request.digest}")
            for message in event.request.messages:
                pictures = f" (+{len(message.images)} images)" if message.images else ""
                print(f"[{message.role}]{pictures}\n{terminal_safe(self._restore(message.text))}")
                _print_calls(message.calls)
        elif isinstance(event, Answered):
            used, dollars = event.reply.usage, event.reply.cost
            cost = "unknown price" if dollars is None else f"${dollars:.6f}"
            counts = f"{used.input} tokens in, {used.output} out" if used.known else "tokens unknown"
            counts += f", {cost}"
            print(f"[answer to {event.purpose}: {counts}]\n{terminal_safe(self._restore(event.reply.text))}")
            _print_calls(event.reply.calls)
        else:
            print(f"[search] {terminal_safe(event.query)}")
            for passage in event.passages:
                print(f"  {passage.score:.4f}  {one_line(passage.title)}  ({one_line(passage.id)})")

    def _step(self, event: Stepped) -> None:
        """Print the action and the resulting screen."""
        decision, taken, after = event.decision, event.taken, event.after
        kind = kind_of(event.episode.partition("/")[0])
        note = (
            ""
            if decision.action == taken
            else f"  (answer {terminal_safe(decision.action)!r} is not a valid action)"
        )
        message = after.observation.text("message")
        print(
            f"step {event.step}: {terminal_safe(taken)}{note}  "
            f"{headline(kind, after.observation.numbers)} reward {after.reward:g}"
            + (f"  {one_line(message)[:MESSAGE]}" if self._brief else "")
        )
        if not self._brief:
            print(terminal_safe(after.observation.screen))

    def close(self, verdict: Verdict) -> None:
        """Print the last line."""
        print(f"{many(verdict.steps, 'steps')}, {one_line(self._end) or 'not finished'}; replay matches")


def _print_calls(calls: Sequence[ToolCall]) -> None:
    """Print native tool calls with their arguments."""
    for line in calls_text(calls).splitlines():
        print(f"[tool call] {terminal_safe(line)}")


def headline(kind: EnvironmentKind, numbers: Numbers) -> str:
    """A game's own line of numbers; its error if it fails, because a display must not end a replay."""
    try:
        return one_line(kind.display.headline(numbers))
    except PluginError as error:
        return one_line(str(error))
