"""A bot's game as the dialogue that a model would have had: its actions as answers to an agent's prompts.

The game is played again from the recorded actions, and the agent is asked at every step as in a run. Its
"model" answers with the recorded action in the format that the agent asks for.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.config.compose import compose
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.data import (
    AnswerFormat,
    Burst,
    GameSpec,
    Observation,
    ProgramPlayer,
    Reply,
    Request,
)
from balrog_rag.contracts.errors import ConfigError, JournalError
from balrog_rag.contracts.events import Event, Stepped
from balrog_rag.contracts.kinds import kind_of
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
    """Whether a program alone played an episode, or a person or a client with its own loop."""
    steps = [entry for entry in recording.entries if isinstance(entry, Step)]
    outside = (
        recording.header is not None and recording.header.spec.last_player.model.get("backend") == "client"
    )
    return bool(steps) and (outside or all(step.pressed for step in steps))


class _Turn(msgspec.Struct):
    """An action of a bot in a model's words, and what the game is like after it."""

    action: str
    after: Observation
    pages: bool = False
    """Whether the bot turned pages that a model's action turns by itself, so that the message differs."""


async def as_dialogue(path: Path, recording: Recording, player: PlayerSpec, watcher: Watcher) -> None:
    """Play a bot's journal through an agent, in front of a watcher."""
    header = recording.header
    assert header is not None
    turns = await _turns(path, recording, header.spec.game)
    spec = msgspec.structs.replace(header.spec, player=player, forks=(), steps=len(turns))
    game = await InlineGames().open(spec.game)
    services = _BotServices([turn.action for turn in turns])
    compared = _Compared(path, turns, watcher)
    try:
        cursor = JournalCursor(Recording(None), _Nowhere())
        await play(EpisodeContext(spec, game, cursor, services, Unmetered(), compared))
    finally:
        await services.close()
        await game.close()


async def _turns(path: Path, recording: Recording, spec: GameSpec) -> list[_Turn]:
    """Press what the bot pressed, and name each press as a model would."""
    game, signals = await InlineGames().open(spec), kind_of(spec.env).hints.signals
    seen, turns, pressed = game.start.observation, list[_Turn](), 0
    try:
        for step in recording.steps:
            if not step.pressed:  # a person or a client took a model's action
                (after,) = await game.play([step.taken])
                seen, pressed = after.observation, pressed + 1
                turns.append(_Turn(step.taken, seen))
            program = ProgramPlayer(step.taken, {}, 0)
            for press in step.pressed:
                answer = signals.answer(press, seen, spec, game.view)
                if answer is None:
                    raise ConfigError(
                        f"{path}: press {pressed}: {signals.press(press)} is not an action of a model in "
                        f"{spec.env}/{spec.task}; only games in which each press is one can be exported"
                    )
                seen = (await game.run(program, 1, Burst(1, (press,)))).observation
                pressed += 1
                if answer or not turns:
                    turns.append(_Turn(answer or signals.press(press), seen))
                else:
                    turns[-1] = _Turn(turns[-1].action, seen, pages=True)
            if seen.digest != step.obs:
                raise _differs(path, pressed - 1)
    finally:
        await game.close()
    return turns


def _differs(path: Path, step: int) -> JournalError:
    return JournalError(f"{path}: step {step}: the replayed game shows a different screen")


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
    if form is not None and (form.thoughts or form.reasoning):
        raise ConfigError("the agent asks for thoughts, which a bot does not have; use naive_append")
    return action if form is None else f"{form.before}{action}{form.after}"


class _Compared:
    """Forwards events, and compares a model's game with the bot's."""

    def __init__(self, path: Path, turns: Sequence[_Turn], watcher: Watcher) -> None:
        self._path, self._turns, self._watcher = path, turns, watcher

    def see(self, event: Event) -> None:
        """Refuse a game that differs; forward the event."""
        if isinstance(event, Stepped):
            turn, seen = self._turns[event.step], event.after.observation
            if event.decision.action != turn.action:
                raise ConfigError(
                    f"{self._path}: step {event.step}: the agent reads the answer {turn.action!r} as "
                    f"{event.decision.action!r}; choose another, such as agent=robust_naive"
                )
            same = seen.numbers == turn.after.numbers if turn.pages else seen.digest == turn.after.digest
            if not same:
                raise _differs(self._path, event.step)
        self._watcher.see(event)


class _Nowhere:
    """Keeps no journal."""

    def append(self, entry: Entry) -> None:
        """Drop the entry."""

    async def settle(self) -> None:
        """Return at once."""
