"""A decision as a game: a state is restored by pressing its keys again, and judged after some turns."""

from collections.abc import Mapping

import msgspec

from balrog_rag.contracts.behaviour import Pressed
from balrog_rag.contracts.data import GameSpec, Observation, Seeds, TaskView, Transition
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.contracts.kinds import check_game
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.decisions.kind import decision_options
from balrog_rag.envs.decisions.recorded_states import RecordedState, recorded
from balrog_rag.envs.decisions.scene import Scene
from balrog_rag.envs.decisions.situations import SITUATIONS, Beginning, Situation
from balrog_rag.envs.minihack.game import MiniHackEngine
from balrog_rag.envs.nethack.actions import ESC, NOTHING, ActionSet, nethack_actions
from balrog_rag.envs.nethack.engine import Engine, KeyPress, NLEGame
from balrog_rag.envs.nethack.game import DEFAULT_ACTION, NetHackEngine
from balrog_rag.envs.nethack.options import nethack_options

_LEVEL_TASK = "MiniHack-Skill-Custom-v0"
_SEARCH = ord("s")
_PRESSES_PER_TURN = 8
"""Key presses that a hero who only waits may need for a turn, before the game counts as stuck."""


def make(spec: GameSpec, ttyrec: str | None = None) -> "DecisionGame":
    """Create the environment `decisions`."""
    check_game(spec)
    situation = SITUATIONS[spec.task]
    state = None if situation.made else recorded(spec.task).states[spec.seeds.core]
    own = _nethack_spec(spec, situation, state)
    actions = nethack_actions(nethack_options(own).actions)
    default = DEFAULT_ACTION if DEFAULT_ACTION in actions.keys else NOTHING
    goal = _goal(situation, state, decision_options(spec).calls)
    view = TaskView(spec.env, spec.task, goal, actions.advertised, frozenset(actions.keys), default)
    return DecisionGame(own, view, actions, _engine(own, situation, ttyrec), situation, state)


def _nethack_spec(spec: GameSpec, situation: Situation, state: RecordedState | None) -> GameSpec:
    """Return the game with the seeds and the character of its state."""
    if state is not None:
        seeds, character = Seeds(state.core, state.disp), "@"
    else:
        assert situation.made is not None
        number = spec.seeds.core
        seeds, character = spec.seeds, situation.made.characters[number % len(situation.made.characters)]
    return msgspec.structs.replace(spec, seeds=seeds, options={**spec.options, "character": character})


def _engine(spec: GameSpec, situation: Situation, ttyrec: str | None) -> Engine:
    if situation.made is None:
        return NetHackEngine(spec, ttyrec)
    options = {**spec.options, "des_file": situation.made.description}
    options.pop("calls")
    level = msgspec.structs.replace(spec, env="minihack", task=_LEVEL_TASK, options=options)
    engine = MiniHackEngine(level, ttyrec, menus=True)
    engine.unsolvable()
    return engine


def _goal(situation: Situation, state: RecordedState | None, calls: int) -> str:
    """Return what the player is told: the situation, the end, and the last prayer, which no screen shows."""
    said = [f"You take over a game of NetHack. {situation.goal}"]
    if state is not None and state.prayed >= 0:
        said.append(f"The hero last prayed {state.turn - state.prayed} turns ago, on turn {state.prayed}.")
    elif state is not None:
        said.append("The hero has not prayed in this game.")
    said.append(f"You have {calls} actions.")
    if not situation.at_once:
        said.append(f"It is judged {situation.turns} turns from now; without actions the hero searches.")
    return " ".join(said)


class DecisionGame(NLEGame):
    """A game of NetHack from a state on, with a judge."""

    def __init__(
        self,
        spec: GameSpec,
        view: TaskView,
        actions: ActionSet,
        engine: Engine,
        situation: Situation,
        state: RecordedState | None,
    ) -> None:
        super().__init__(spec, view, actions, engine)
        self._situation, self._state = situation, state
        self._most_calls = decision_options(spec).calls
        self._calls = 0
        self._scene: Scene | None = None
        self._begun = Beginning(0, 0)
        self._until = 0
        self._spoiled = False

    @property
    def numbers(self) -> Mapping[str, int]:
        """The bottom lines' numbers, and how the decision stands."""
        return {**super().numbers, **self._stand()}

    def prepare(self) -> None:
        """Press the keys that lead to the state; the judge begins there."""
        if self._state is not None:
            for key in self._state.keys:
                self._engine.press(ord(key))
                self._memory.see()
            self._live[:] = self._engine.arrays["blstats"]
            if self._observer.observe("").digest != self._state.screen:
                raise EnvironmentFailure(
                    f"{self.view.task}: its keys lead to another screen than recorded; the version of nle "
                    "or its data files differ from those that the states were recorded with"
                )
        self._scene = scene = Scene(self._engine.arrays)
        self._begun = Beginning(scene.depth, scene.place)
        self._until = scene.turn + self._situation.turns

    def reset(self) -> Transition:
        """Begin at the state."""
        return self._counted(super().reset())

    def decide(self) -> None:
        """Count a decision of an agent; programs that play by themselves have none."""
        self._calls += 1

    def look(self, message: str, ended: str) -> Transition:
        """Return the present moment; after the last action the hero waits until it is judged."""
        if not ended and self._calls >= self._most_calls:
            waited = self._wait()
            message, ended = message + waited.message, waited.ended
        return self._counted(super().look(message, ended))

    def _counted(self, seen: Transition) -> Transition:
        numbers = {**seen.observation.numbers, **self._stand()}
        observation: Observation = msgspec.structs.replace(seen.observation, numbers=numbers)
        return msgspec.structs.replace(seen, observation=observation)

    def _wait(self) -> Pressed:
        """Search until the decision is judged."""
        assert self._scene is not None
        passed = ""
        for _ in range(_PRESSES_PER_TURN * self._situation.turns):
            press = self._press(_SEARCH if self._scene.takes_command else ESC)
            passed += press.passed
            if press.ended:
                return Pressed(ended=press.ended, message=passed)
        return Pressed(ended=Outcome.NO_PROGRESS, message=passed)

    def _press(self, key: int) -> KeyPress:
        """Press a key, and judge."""
        press = super()._press(key)
        scene = self._scene
        if scene is None or press.ended:
            return press
        scene.see()
        self._spoiled |= any(words in scene.message for words in self._situation.spoiled)
        if not scene.takes_command:  # a screen in the middle of a question or a page can be outdated
            return press
        resolved = self._resolved()
        if scene.turn >= self._until or (resolved and self._situation.at_once):
            return press._replace(ended=str(Outcome.SOLVED if resolved else Outcome.FAILED))
        return press

    def _resolved(self) -> bool:
        scene = self._scene
        return (
            scene is not None
            and not self._spoiled
            and scene.hp > 0
            and self._situation.resolved(scene, self._begun)
        )

    def _stand(self) -> dict[str, int]:
        """How the decision stands, in numbers."""
        turn = self._scene.turn if self._scene is not None else 0
        return {"calls": self._calls, "turns_left": max(0, self._until - turn)}
