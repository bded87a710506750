"""A game of the board: NetHack as one of its identities, with its seeds and limits."""

from collections.abc import Mapping

import msgspec

from balrog_rag.contracts.data import GameSpec, Observation, Seeds, TaskView, Transition
from balrog_rag.contracts.kinds import check_game
from balrog_rag.envs.nethack.actions import ActionSet, nethack_actions
from balrog_rag.envs.nethack.engine import Engine, KeyPress, NLEGame
from balrog_rag.envs.nethack.game import NetHackEngine, view_of
from balrog_rag.envs.nethack.observe import is_live
from balrog_rag.envs.nethack.options import nethack_options
from balrog_rag.envs.nethackers import board


def make(spec: GameSpec, ttyrec: str | None = None) -> "BoardGame":
    """Create the environment `nethackers`."""
    check_game(spec)
    own = ruled(spec)
    actions = nethack_actions(nethack_options(own).actions)
    return BoardGame(own, view_of(own, actions), actions, NetHackEngine(own, ttyrec))


def ruled(spec: GameSpec) -> GameSpec:
    """Return the game with the board's rules: seeds, identity, autopickup, limit without game time."""
    dice = board.dice(spec.seeds.core)
    rules = {
        "character": spec.task,
        "autopickup": False,
        "no_progress": board.no_progress(),
        "no_progress_calls": 0,
    }
    return msgspec.structs.replace(
        spec, seeds=Seeds(dice.core, dice.disp, dice.lgen), options={**spec.options, **rules}
    )


class BoardGame(NLEGame):
    """A game of NetHack that updates the board's numbers after each key press."""

    def __init__(self, spec: GameSpec, view: TaskView, actions: ActionSet, engine: Engine) -> None:
        """Like any game of NetHack."""
        super().__init__(spec, view, actions, engine)
        self._best = board.nothing_yet()

    @property
    def numbers(self) -> Mapping[str, int]:
        """The bottom lines' numbers, and the counted ones."""
        return {**super().numbers, **self._best}

    def reset(self) -> Transition:
        """Begin the game; the board sets the time to compare with before the first press."""
        begun = super().reset()
        self._turn = begun.observation.numbers["turn"]
        board.count(self._best, super().numbers)
        return self._counted(begun)

    def look(self, message: str, ended: str) -> Transition:
        """Return the present moment with the counted numbers."""
        return self._counted(super().look(message, ended))

    def _press(self, key: int) -> KeyPress:
        """Press a key and update the counted numbers."""
        press = super()._press(key)
        if is_live(self._engine.arrays):
            board.count(self._best, super().numbers)
        return press

    def _counted(self, transition: Transition) -> Transition:
        seen = transition.observation
        observation: Observation = msgspec.structs.replace(seen, numbers={**seen.numbers, **self._best})
        return msgspec.structs.replace(transition, observation=observation)
