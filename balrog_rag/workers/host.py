"""Makes environments and lets policies play them, in whichever process the games live."""

from collections.abc import Mapping, Sequence
from typing import Any

from balrog_rag.config.frozen import thaw
from balrog_rag.config.schema import AgentConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.behaviour import Environment, Policy
from balrog_rag.contracts.data import GameSpec, TaskView, Transition, Turn
from balrog_rag.contracts.errors import BalrogError, EnvironmentFailure, PluginError
from balrog_rag.contracts.kinds import kind_of


class HostedGame:
    """An environment being played, and the policy that plays it, if one does."""

    def __init__(self, spec: GameSpec, ttyrec: str | None = None) -> None:
        """Make the game and start it; whatever goes wrong is one line."""
        self._name = f"{spec.env}/{spec.task}"
        with _one_line(self._name, "cannot be made"):
            self._environment: Environment = kind_of(spec.env).make(spec, ttyrec)
        try:
            with _one_line(self._name, "cannot be started"):
                self.start: Transition = self._environment.reset()
        except BalrogError:
            self._environment.close()
            raise
        self.view: TaskView = self._environment.view
        self._policy: Policy | None = None
        self._ended = False

    def step(self, action: str) -> Transition:
        """Take one action."""
        with _one_line(self._name, f"failed at action {action!r}"):
            transition = self._environment.step(action)
        self._ended = bool(transition.ended)
        return transition

    def play(self, actions: Sequence[str]) -> list[Transition]:
        """Take the actions one after the other, up to the game's end."""
        transitions = []
        for action in actions:
            transitions.append(self.step(action))
            if self._ended:
                break
        return transitions

    def policy_step(self, name: str, config: Mapping[str, Any], seed: int) -> Turn:
        """Let the policy take one step; it is made at the first."""
        if self._policy is None:
            self._policy = self._hire(name, config, seed)
        with _one_line(f"policy {name!r}", f"failed in {self._name}"):
            action = self._policy.act(self._raw(name))
        if action not in self.view.accepted:
            raise PluginError(f"policy {name!r} wants {action!r}, which {self._name} does not accept")
        return Turn(action, self.step(action))

    @property
    def ended(self) -> bool:
        """Whether the game is over."""
        return self._ended

    def close(self) -> None:
        """Give back everything the game holds."""
        self._environment.close()

    def _hire(self, name: str, config: Mapping[str, Any], seed: int) -> Policy:
        factory = registry.policies.get(name)
        with _one_line(f"policy {name!r}", "cannot be made"):
            policy: Policy = factory(thaw(config, AgentConfig), self.view, seed)
        return policy

    def _raw(self, policy: str) -> Mapping[str, Any]:
        raw: Mapping[str, Any] | None = getattr(self._environment, "raw", None)
        if raw is None and getattr(self._policy, "needs_raw", True):
            raise EnvironmentFailure(f"{self._name} shows no raw arrays, which policy {policy!r} plays by")
        return raw or {}


class _one_line:
    """Turns whatever a game or a plug-in raises into one line; ours pass as they are."""

    def __init__(self, who: str, what: str) -> None:
        self._who, self._what = who, what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, BalrogError):
            reason = " ".join([f"{type(error).__name__}:", *str(error).split()]).removesuffix(":")
            raise EnvironmentFailure(f"{self._who} {self._what}: {reason}") from error
