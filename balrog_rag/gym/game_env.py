"""One game as a Gymnasium environment, in the calling process."""

from typing import Any, ClassVar

import gymnasium
from gymnasium.error import ResetNeeded

from balrog_rag.contracts.data import TaskView, Transition
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.gym.scored_episode import ScoredEpisode
from balrog_rag.gym.task_interface import TaskInterface, drawn_seed
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.workers.host import HostedGame

RENDER_MODES = ("ansi",)


def refuse_render_mode(mode: str | None) -> None:
    """Refuse a render mode other than those of the metadata."""
    if mode is not None and mode not in RENDER_MODES:
        raise ConfigError(f"render_mode: expected None or 'ansi', got {mode!r}")


class GameEnv(gymnasium.Env[Any, Any]):  # type: ignore[misc]  # gymnasium is not type-checked here
    """A task: `reset(seed=S)` starts the game that `balrog_rag.make(task, seed=S)` starts.

    `info` has the progression from 0 to 1 as a run scores it, `outcome` ("" until the end), the key presses
    of the step (`keys`), the action taken if the chosen one was impossible (`instead`), `goal`, `seed` and
    the game's `numbers`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def __init__(self, task: str, *, render_mode: str | None = None, **settings: Any) -> None:
        """Prepare a task, written env/task; no game is running until `reset`.

        Args:
            task: the task, as in env.tasks; `gymnasium.make` sets it.
            render_mode: None or "ansi".
            settings: `observation` is "text", "arrays" or "both"; `arrays` names the arrays, default all;
                `max_characters` limits the text; `all_answers=True` adds to the action space every answer
                that the game accepts although prompts do not list it, such as letters; `max_presses` and
                `programs` are those of `balrog_rag.make`; anything else is an option of the kind of game.
        """
        refuse_render_mode(render_mode)
        self.render_mode = render_mode
        self._task = task_interface(task, settings)
        self.action_names = self._task.action_names
        """The name of each action, by its number."""
        self.action_space = self._task.action_space
        self.observation_space = self._task.format.space
        self._game: HostedGame | None = None

    @property
    def view(self) -> TaskView:
        """The task as agents see it: goal, actions with descriptions, accepted answers."""
        return self._running()[0].view

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start the game with this seed, or the next one of the environment's own generator."""
        super().reset(seed=seed)
        self.close()
        spec = self._task.spec(drawn_seed(self.np_random) if seed is None else seed)
        self._game = game = HostedGame(spec)
        self._task.check(game.view)
        self._episode = ScoredEpisode(spec, game.view, game.start)
        return self._seen(game.start), self._episode.start_info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action by its number, or by its text, which may be any that the game accepts."""
        game, episode = self._running()
        if episode.over:
            raise ResetNeeded(f"{self._task.task}: the game is over; call reset")
        transition = game.step(self._task.action(action, game.view))
        return self._seen(transition), *episode.see(transition)

    def render(self) -> Any:
        """Return the screen as text, safe to print, for render_mode="ansi"."""
        if self.render_mode is None:
            return None
        self._running()
        return terminal_safe(self._screen)

    def close(self) -> None:
        """End the game; calling it twice is safe."""
        if self._game is not None:
            self._game.close()
            self._game = None

    def _running(self) -> tuple[HostedGame, ScoredEpisode]:
        if self._game is None:
            raise ResetNeeded(f"{self._task.task}: no game is running; call reset")
        return self._game, self._episode

    def _seen(self, transition: Transition) -> Any:
        assert self._game is not None
        self._screen = transition.observation.screen
        arrays = self._game.arrays if self._task.format.names else {}
        return self._task.format.observation(transition.observation, arrays)


OWN = ("observation", "arrays", "max_characters", "all_answers", "max_presses", "programs")
"""Settings that are not options of a kind of game."""


def task_interface(task: str, settings: dict[str, Any]) -> TaskInterface:
    """Return the interface of a task with the settings of an environment."""
    own = {name: settings[name] for name in OWN if name in settings}
    return TaskInterface(task, options={k: v for k, v in settings.items() if k not in OWN}, **own)
