"""A scenario as a game: a level, an instruction, an action to end the task, and a judge."""

from collections.abc import Mapping

import msgspec

from balrog_rag.bots.nethack.netplay.scenarios.judges import Conditional, Judge
from balrog_rag.bots.nethack.netplay.scenarios.tasks import SCENARIOS, Scenario
from balrog_rag.contracts.data import GameSpec, Observation, TaskView, Transition
from balrog_rag.contracts.kinds import check_game
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.minihack.game import MiniHackEngine
from balrog_rag.envs.nethack.actions import NOTHING, ActionSet, nethack_actions
from balrog_rag.envs.nethack.engine import KeyPress, NLEGame
from balrog_rag.envs.nethack.options import nethack_options
from balrog_rag.envs.nethack.world.tracker import Tracker

FINISH = "finish_task"
_LEVEL_TASK = "MiniHack-Skill-Custom-v0"


def make(spec: GameSpec, ttyrec: str | None = None) -> "ScenarioGame":
    """Create the environment `netplay`."""
    check_game(spec)
    scenario = SCENARIOS[spec.task]
    options = {**spec.options, "des_file": scenario.made.text}
    engine = MiniHackEngine(
        msgspec.structs.replace(spec, env="minihack", task=_LEVEL_TASK, options=options), ttyrec
    )
    engine.unsolvable()
    plain = nethack_actions(nethack_options(spec).actions)
    says = "end the task: say that it is done"
    actions = ActionSet({**plain.advertised, FINISH: says}, {**plain.keys, FINISH: ()})
    default = NOTHING if NOTHING in actions.keys else "esc"
    view = TaskView(spec.env, spec.task, scenario.goal, actions.advertised, frozenset(actions.keys), default)
    return ScenarioGame(spec, view, actions, engine, scenario)


class ScenarioGame(NLEGame):
    """A game of NetHack that a judge watches."""

    def __init__(
        self, spec: GameSpec, view: TaskView, actions: ActionSet, engine: MiniHackEngine, scenario: Scenario
    ) -> None:
        """`scenario` determines the level and the judge."""
        super().__init__(spec, view, actions, engine)
        self._scenario = scenario
        self._judge: Judge | None = None
        self._finished = False

    @property
    def numbers(self) -> Mapping[str, int]:
        """The bottom lines' numbers, and the state of the scenario."""
        return {**super().numbers, **self._stand()}

    def reset(self) -> Transition:
        """Begin the game; the judge needs its first screen."""
        started = super().reset()
        followed = self._tracker or Tracker(self._engine.arrays)
        self._judge = self._scenario.judge(self._scenario.made, followed)
        return self._judged(started)

    def step(self, action: str) -> Transition:
        """Take one plain action, possibly the one that ends the task."""
        if action != FINISH:
            return super().step(action)
        self._finished = True
        solved = self._look_judged()
        return msgspec.structs.replace(
            self.look("", Outcome.SOLVED if solved else Outcome.FAILED), keys=0, reward=0.0
        )

    def look(self, message: str, ended: str) -> Transition:
        """Return the present moment with the state of the scenario."""
        return self._judged(super().look(message, ended))

    def _press(self, key: int) -> KeyPress:
        """Press a key, with the judge called before and after."""
        judge = self._judge
        moment = judge.before(key) if judge is not None else None
        press = super()._press(key)
        if judge is not None and moment is not None:
            if self._tracker is None:
                judge.tracker.see()
            if not judge.tracker.player.world.over:
                judge.after(moment)
        return press

    def _look_judged(self) -> bool:
        """Let the judge look; return whether the scenario is solved."""
        judge = self._judge
        assert judge is not None
        if not judge.tracker.player.world.over:
            judge.look()
        return judge.solved

    def _judged(self, transition: Transition) -> Transition:
        if self._tracker is None and self._judge is not None and not transition.ended:
            self._judge.tracker.look_under(self._engine.press)
        self._look_judged()
        seen = transition.observation
        numbers = {**seen.numbers, **self._stand()}
        observation = Observation(seen.parts, numbers, seen.digest, seen.notice, seen.pictures)
        return msgspec.structs.replace(transition, observation=observation)

    def _stand(self) -> dict[str, int]:
        """The state of the scenario, in numbers."""
        judge = self._judge
        if judge is None:
            return {}
        first = {"looked_first": int(judge.looked_first)} if isinstance(judge, Conditional) else {}
        return {
            "solved": int(judge.solved),
            "subgoals": judge.subgoals,
            "finished": int(self._finished),
            "premature": int(self._finished and not judge.solved),
            "keys": self._pressed,
            **first,
        }
