"""How one moment of a long episode looks, before the steps up to it are rebuilt.

Only the recorded actions are given to the game: no agent runs, no prompt is composed, and no other moment is
rendered. That takes about a quarter of the time of a rebuild up to there.
"""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from balrog_rag.contracts.data import Burst, ProgramPlayer, Transition
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.kinds import EnvironmentKind, kind_of, refuse_other_version
from balrog_rag.contracts.painting import ColouredText
from balrog_rag.contracts.tool_calls import calls_text
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion, Recording, Step
from balrog_rag.episode.taken_actions import recorded_action
from balrog_rag.viewer.packing import PackedScreen, screen_of
from balrog_rag.workers.host import HostedGame

FAR = 1_000
"""Steps before a moment from which on it is worth a look of its own."""


def first_look(path: Path, at: int, stopped: Callable[[], bool] = lambda: False) -> dict[str, Any] | None:
    """The moment before step `at`, or the last recorded one; None if the recorded actions do not lead there.

    Why they do not is found, and said, by the rebuild that follows.
    """
    try:
        recording = journal.read(path)
        if recording.header is None or recording.count < FAR:
            return None
        game = recording.header.spec.game
        refuse_other_version(game, str(path))
        hosted = HostedGame(game)
        try:
            at = min(at, recording.count)
            last = _played(hosted, recording, at, stopped)
            if last is None:
                return None
            kind = kind_of(game.env)
            return {"at": at, **_shown(kind, hosted, last), **_decided(kind, recording, at)}
        finally:
            hosted.close()
    except (BalrogError, OSError):
        return None


def _played(
    hosted: HostedGame, recording: Recording, at: int, stopped: Callable[[], bool]
) -> Transition | None:
    """Take the recorded steps before `at`; None if a screen is not the recorded one."""
    last = hosted.start
    for step in recording.entries:
        if not isinstance(step, Step) or step.n >= at:
            continue
        if stopped():
            return None
        last = _taken(hosted, step, at - step.n)
        if step.n + step.count <= at and last.observation.digest != step.obs:
            return None
    return last


def _taken(hosted: HostedGame, step: Step, most: int) -> Transition:
    """Take one recorded step; of a program's burst at most so many presses."""
    if not step.pressed:
        return hosted.step(recorded_action(hosted.view, step))
    keys = step.pressed[:most]
    return hosted.run(ProgramPlayer("", {}, 0), len(keys), recorded=Burst(len(keys), keys))


def _shown(kind: EnvironmentKind, hosted: HostedGame, last: Transition) -> dict[str, Any]:
    """The screen, as the page draws it, and the line below it."""
    painting, seen, numbers = hosted.painted(), last.observation, hosted.numbers
    if isinstance(painting, ColouredText):
        screen, picture = screen_of(painting), None
    else:
        screen = PackedScreen(seen.screen.split("\n"))
        picture = painting or next(iter(seen.pictures), None)
    return {
        "screen": screen.whole | {"cursor": screen.cursor},
        "picture": b64encode(picture).decode() if picture else None,
        "line": "" if kind.display.blank(numbers) else kind.display.headline(numbers),
    }


def _decided(kind: EnvironmentKind, recording: Recording, at: int) -> dict[str, str]:
    """The last answer before the action of a step, and the action; empty at the end of the journal."""
    answer = ""
    for entry in recording.entries:
        if isinstance(entry, Completion):
            answer = "\n".join(filter(None, (entry.reply.text, calls_text(entry.reply.calls))))
        elif isinstance(entry, Step):
            if entry.n <= at < entry.n + entry.count:
                presses = [kind.hints.signals.press(press) for press in entry.pressed]
                return {"do": presses[at - entry.n] if presses else entry.taken, "answer": answer}
            answer = ""
    return {"do": "", "answer": ""}
