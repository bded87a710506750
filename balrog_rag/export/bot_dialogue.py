"""A bot's game as the dialogue that a model would have had: its actions as answers to an agent's prompts.

The game is played again from the recorded actions, and the agent is asked at every step as in a run. Its
"model" answers with the recorded action in the format that the agent asks for.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.config.compose import compose
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.data import AnswerFormat, Reply, Request
from balrog_rag.contracts.errors import ConfigError, JournalError
from balrog_rag.contracts.events import Event, Stepped
from balrog_rag.episode.effects import JournalCursor
from balrog_rag.episode.journal import Entry, Recording, Step
from balrog_rag.episode.play import EpisodeContext, play
from balrog_rag.episode.spec import PlayerSpec
from balrog_rag.run.preflight import check_settings
from balrog_rag.run.replay import Unmetered
from balrog_rag.run.services import LiveServices, player_spec
from balrog_rag.workers.inline import InlineGames


def reader(words: Sequence[str]) -> PlayerSpec:
    """Return the agent that overrides describe, as whose dialogue a bot's games are written."""
    config = compose(["model=scripted", *words])
    check_settings(config)
    return player_spec(config)


def is_bots(recording: Recording) -> bool:
    """Whether a program alone played an episode."""
    steps = [entry for entry in recording.entries if isinstance(entry, Step)]
    return bool(steps) and all(step.pressed for step in steps)


async def as_dialogue(path: Path, recording: Recording, player: PlayerSpec, watcher: Watcher) -> None:
    """Play a bot's journal through an agent, in front of a watcher."""
    header = recording.header
    assert header is not None
    actions = _actions(path, recording)
    spec = msgspec.structs.replace(header.spec, player=player, forks=(), steps=len(actions))
    game = await InlineGames().open(spec.game)
    unknown = next((action for action in actions if not game.view.takes(action)), None)
    if unknown is not None:
        await game.close()
        raise ConfigError(
            f"{path}: {unknown!r} is not an action of a model in {spec.game.env}; "
            "only bots that use a game's named actions can be exported"
        )
    services = _BotServices(actions)
    compared = _Compared(path, recording, watcher)
    try:
        cursor = JournalCursor(Recording(None), _Nowhere())
        await play(EpisodeContext(spec, game, cursor, services, Unmetered(), compared))
    finally:
        await services.close()
        await game.close()


def _actions(path: Path, recording: Recording) -> list[str]:
    pressed = [key for entry in recording.entries if isinstance(entry, Step) for key in entry.pressed]
    named = [key for key in pressed if isinstance(key, str)]
    if len(named) < len(pressed):
        raise ConfigError(
            f"{path}: the bot pressed keys; only bots that use a game's named actions can be exported"
        )
    return named


class _BotServices(LiveServices):
    """The services of an agent whose model is the recording."""

    def __init__(self, actions: Sequence[str]) -> None:
        super().__init__()
        self._recorded = RecordedActions(actions)

    def model(self, player: PlayerSpec) -> "RecordedActions":
        """Return the recording."""
        return self._recorded


class RecordedActions:
    """A model that answers with recorded actions, in order."""

    name = "recorded"

    def __init__(self, actions: Sequence[str]) -> None:
        self._actions = iter(actions)

    async def complete(self, request: Request) -> Reply:
        """Answer with the next action."""
        if request.purpose != "act":
            raise ConfigError(
                f"the agent asks for a {request.purpose}, which a bot cannot answer; use naive_append"
            )
        return Reply(written(next(self._actions), request.answer))

    async def close(self) -> None:
        """Do nothing: no resources are held."""


def written(action: str, form: AnswerFormat | None) -> str:
    """Return an action in the format that an agent asks for, without reasoning."""
    if form is not None and form.thoughts:
        raise ConfigError("the agent asks for thoughts, which a bot does not have; use naive_append")
    return action if form is None else f"{form.before}{action}{form.after}"


class _Compared:
    """Forwards events, and compares the replayed game with the recorded one."""

    def __init__(self, path: Path, recording: Recording, watcher: Watcher) -> None:
        self._path, self._watcher = path, watcher
        self._expected: dict[int, str] = {}
        """By step, the digest of the screen after it."""
        steps = 0
        for entry in recording.entries:
            if isinstance(entry, Step):
                steps += entry.count
                self._expected[steps - 1] = entry.obs

    def see(self, event: Event) -> None:
        """Refuse a game that differs; forward the event."""
        if isinstance(event, Stepped):
            expected = self._expected.get(event.step)
            if expected is not None and expected != event.after.observation.digest:
                raise JournalError(
                    f"{self._path}: step {event.step}: the replayed game shows a different screen"
                )
        self._watcher.see(event)


class _Nowhere:
    """Keeps no journal."""

    def append(self, entry: Entry) -> None:
        """Drop the entry."""

    async def settle(self) -> None:
        """Return at once."""
