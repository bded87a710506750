"""A game that is played by hand, in the calling process."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from balrog_rag.contracts.data import GameSpec, Observation, Seeds, TaskView, Transition
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import check_game, example_task, follow, kind_of, value_of, version_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.contracts.registry import nearest
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.workers.host import HostedGame


def make(
    task: str,
    *,
    seed: int = 0,
    max_presses: int | None = None,
    programs: Sequence[str] = (),
    max_steps: int | None = None,
    **options: Any,
) -> "Game":
    """Start a game of `task`, written env/task as in env.tasks, with its RNG seeded by `seed`.

    `max_presses` limits the game's own steps, such as key presses; `max_steps` is its former name.
    `options` are the options of its kind, as env.KEY=VALUE sets them in a run; `programs` is as in
    env.programs. The game is identical to a run's with env.seeding=fixed and env.seeds=[SEED].
    """
    return Game(game_spec(task, seed, max_presses or max_steps, programs, options))


def game_spec(
    task: str, seed: int, max_presses: int | None, programs: Sequence[str], options: Mapping[str, Any]
) -> GameSpec:
    """Return the checked spec of a game; the arguments are those of `make`."""
    env, _, name = task.partition("/")
    if not name:
        raise ConfigError(f"{task!r}: expected env/task, e.g. {example_task()}")
    kind = kind_of(env)
    spec = GameSpec(
        env=env,
        task=name,
        seeds=Seeds(core=seed, disp=seed),
        max_steps=max_presses or kind.max_steps(name),
        options=resolved_options(kind, options, [kind]),
        programs=tuple(programs),
        version=version_of(kind, name),
    )
    check_game(spec)
    return spec


class Game:
    """A game in progress: `observation` is the current one, `step` takes an action."""

    def __init__(self, spec: GameSpec) -> None:
        """Start the game that `spec` describes; use `make` to create both."""
        self.spec = spec
        self._hosted = HostedGame(spec)
        self._kind = kind_of(spec.env)
        self._progress = self._kind.progress(spec)
        self.last: Transition = self._hosted.start
        self.steps = 0
        self.reward = 0.0
        self._see()

    @property
    def view(self) -> TaskView:
        """The task as agents see it: goal, actions, default action."""
        return self._hosted.view

    @property
    def observation(self) -> Observation:
        """The current observation."""
        return self.last.observation

    @property
    def ended(self) -> str:
        """The reason why the game ended; empty while it is running."""
        return self.last.ended

    @property
    def progression(self) -> float:
        """Progression from 0 to 1, as a run would score it."""
        return value_of(self._progress, self._kind)

    def step(self, action: str) -> Transition:
        """Take an action of `view.actions`, with arguments if it has any, and return the transition."""
        if self.ended:
            raise ConfigError(f"{self._name}: the game is over ({self.ended}); start another with make")
        if not self.view.takes(action):
            raise ConfigError(f"{self._name}: unknown action {action!r}{nearest(action, self.view.actions)}")
        self.last = self._hosted.step(action)
        self.steps += 1
        self.reward += self.last.reward
        self._see()
        return self.last

    def close(self) -> None:
        """Release all resources. Calling it twice is safe."""
        self._hosted.close()

    def _see(self) -> None:
        follow(self._progress, self.last, self.observation.numbers, self.ended)

    @property
    def _name(self) -> str:
        return f"{self.spec.env}/{self.spec.task}"

    def __str__(self) -> str:
        """Return the screen, safe to print."""
        return terminal_safe(self.observation.screen)

    def __repr__(self) -> str:
        state = self.ended or "in play"
        return f"<Game {self._name}: step {self.steps}, progression {100 * self.progression:g} %, {state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
