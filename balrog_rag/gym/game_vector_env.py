"""Many games of one task, played side by side in worker processes."""

import asyncio
import weakref
from collections.abc import Coroutine, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from balrog_rag.contracts.data import TaskView, Transition
from balrog_rag.contracts.errors import ConfigError, WorkerLost
from balrog_rag.contracts.raw_arrays import unpacked
from balrog_rag.gym.game_env import RENDER_MODES, refuse_render_mode, task_interface
from balrog_rag.gym.scored_episode import ScoredEpisode, StepResult
from balrog_rag.gym.task_interface import TaskInterface, drawn_seed
from balrog_rag.util.loop_thread import LoopThread
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.workers.pool import PooledGame, WorkerPool

LOSSES = 5
"""Workers that may die under one game before the error is raised."""


class GameVectorEnv(VectorEnv[Any, Any, Any]):  # type: ignore[misc]  # gymnasium is not type-checked here
    """Steps `num_envs` games at once; each plays the games that a `GameEnv` with its seed would play.

    A game that ended starts anew at the next step (`AutoresetMode.NEXT_STEP`). If a worker process dies, its
    games are replayed on another one.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        task: str,
        workers: int = 0,
        step_deadline: float = 60.0,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Start the workers.

        Args:
            num_envs: the number of games.
            task: the task, as in env.tasks; `gymnasium.make_vec` sets it.
            workers: the number of processes; 0 for one per core.
            step_deadline: seconds after which a worker that is silent counts as hung.
            max_episode_steps: actions after which an episode is truncated.
            render_mode: None or "ansi".
            settings: those of `GameEnv`.
        """
        refuse_render_mode(render_mode)
        if num_envs < 1:
            raise ConfigError(f"num_envs: expected an integer of at least 1, got {num_envs}")
        self.closed = True  # until there is something to close
        self._task = task_interface(task, settings)
        self.action_names = self._task.action_names
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = {"render_modes": list(RENDER_MODES), "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_action_space = self._task.action_space
        self.single_observation_space = self._task.format.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._loop = LoopThread("balrog_rag games")
        self._pool = pool = self._loop.run(_started(workers, step_deadline, num_envs))
        # At exit __del__ would come too late: the loop's thread no longer runs then.
        self._abandon = weakref.finalize(self, _abandon, pool, self._loop)
        self._slots = [VectorSlot(self._task, pool, max_episode_steps) for _ in range(num_envs)]
        self._ready = self.closed = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start every game anew; an integer seeds game i with seed + i, None continues the generators."""
        if options and "reset_mask" in options:
            raise ConfigError("reset_mask: not supported, games that ended start anew by themselves")
        seeds = _seeds(seed, self.num_envs)
        super().reset(seed=None)
        self._refuse_closed()
        return self._gathered([slot.reset(own) for slot, own in zip(self._slots, seeds, strict=True)])[::4]

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one action in each game, by number or by text."""
        if len(actions) != self.num_envs:
            raise ConfigError(f"actions: expected {self.num_envs}, one for each game; got {len(actions)}")
        self._refuse_closed()
        if not self._ready:
            raise ResetNeeded(f"{self._task.task}: no games are running; call reset")
        # Named before any game is stepped, so that a wrong action leaves all of them as they are.
        named = [self._task.action(own, self._view) for own in actions]
        return self._gathered([slot.step(own) for slot, own in zip(self._slots, named, strict=True)])

    def render(self) -> tuple[Any, ...] | None:
        """Return the screens as text, safe to print, for render_mode="ansi"."""
        if self.render_mode is None:
            return None
        return tuple(terminal_safe(slot.screen) for slot in self._slots)

    def close_extras(self, **kwargs: Any) -> None:
        """End the games and the worker processes."""
        if self._abandon.detach() is None:  # it has run: the interpreter is shutting down
            return
        try:
            self._loop.run(self._pool.close())
        finally:
            self._loop.close()

    @property
    def _view(self) -> TaskView:
        return self._slots[0].view

    def _refuse_closed(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError(f"{self._task.task}: the environment is closed; make another")

    def _gathered(
        self, work: "list[Coroutine[Any, Any, tuple[Any, StepResult]]]"
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Do the work of all games and return it as batches."""
        self._ready = False  # an error or Ctrl-C in between leaves games at different places
        done = self._loop.run(_all(work))
        self._ready = True
        infos: dict[str, Any] = {}
        for place, (_, result) in enumerate(done):
            infos = self._add_info(infos, result.info, place)
        observations = concatenate(
            self.single_observation_space,
            [observation for observation, _ in done],
            create_empty_array(self.single_observation_space, self.num_envs),
        )
        rewards = np.array([result.reward for _, result in done], np.float64)
        terminated = np.array([result.terminated for _, result in done], np.bool_)
        truncated = np.array([result.truncated for _, result in done], np.bool_)
        return observations, rewards, terminated, truncated, infos


class VectorSlot:
    """The place of one game: the games that are played there follow each other."""

    def __init__(self, task: TaskInterface, pool: WorkerPool, most: int | None) -> None:
        """`most` actions end an episode."""
        self.screen = ""
        self._task, self._pool, self._most = task, pool, most
        self._generator: np.random.Generator | None = None
        self._game: PooledGame | None = None
        self._taken: list[str] = []
        """The actions of this episode, with which it can be played again on another worker."""
        self._over = False

    @property
    def view(self) -> TaskView:
        """The task of the game that is running."""
        assert self._game is not None
        return self._game.view

    async def reset(self, seed: int | None = None) -> tuple[Any, StepResult]:
        """Start the game with this seed, or the next one of the generator."""
        if seed is not None or self._generator is None:
            self._generator, _ = np_random(seed)
        self._spec = self._task.spec(drawn_seed(self._generator) if seed is None else seed)
        self._taken.clear()
        game, _ = await self._played_again()
        self._task.check(game.view)
        self._episode = ScoredEpisode(self._spec, game.view, game.start)
        self._over = False
        return self._seen(game, game.start), StepResult(0.0, False, False, self._episode.start_info)

    async def step(self, action: str) -> tuple[Any, StepResult]:
        """Take an action, or start the next game if this one has ended."""
        if self._over:
            return await self.reset()
        game = self._game
        assert game is not None
        self._taken.append(action)
        try:
            transitions = await game.play([action])
        except WorkerLost:
            game, transitions = await self._played_again()
        result = self._episode.see(transitions[-1])
        if self._most is not None and len(self._taken) >= self._most and not result.terminated:
            result = result._replace(truncated=True)
        self._over = result.terminated or result.truncated
        return self._seen(game, transitions[-1]), result

    async def _played_again(self) -> tuple[PooledGame, Sequence[Transition]]:
        """Open the game and play this episode's actions; on another worker if one dies."""
        losses = 0
        while True:
            try:
                if self._game is not None:
                    await self._game.close()
                    self._game = None
                self._game = game = await self._pool.open(self._spec, arrays=self._task.format.names)
                return game, await game.play(self._taken) if self._taken else ()
            except WorkerLost:
                losses += 1
                if losses == LOSSES:
                    raise

    def _seen(self, game: PooledGame, transition: Transition) -> Any:
        self.screen = transition.observation.screen
        return self._task.format.observation(transition.observation, unpacked(game.arrays))


def _abandon(pool: WorkerPool, loop: LoopThread) -> None:
    """End the worker processes and the loop of an environment that was not closed."""
    loop.call(pool.kill)
    loop.close()


async def _started(workers: int, deadline: float, games: int) -> WorkerPool:
    pool = WorkerPool(workers, deadline)
    await pool.start(games)
    return pool


async def _all(work: "list[Coroutine[Any, Any, tuple[Any, StepResult]]]") -> list[tuple[Any, StepResult]]:
    """Wait for all of the work; only then raise what failed, so that none of it is still running."""
    done = await asyncio.gather(*work, return_exceptions=True)
    results: list[tuple[Any, StepResult]] = []
    for each in done:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results


def _seeds(seed: int | Sequence[int | None] | None, games: int) -> list[int | None]:
    if seed is None:
        return [None] * games
    if isinstance(seed, int | np.integer):
        return [int(seed) + place for place in range(games)]
    if len(seed) != games:
        raise ConfigError(f"seed: expected {games}, one for each game; got {len(seed)}")
    return list(seed)
