"""Check a plug-in by using it: what is wrong comes back as one line each."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

from balrog_rag.api.findings import CheckFindings
from balrog_rag.api.game_check import check_kind, playable
from balrog_rag.contracts import registry, validation
from balrog_rag.contracts.commands import Command
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind, kind_of
from balrog_rag.contracts.programs import ProgramKind
from balrog_rag.contracts.statistics import Statistic
from balrog_rag.contracts.validation import shown
from balrog_rag.run import trial_run

NONSENSE = ("", "dance", "ACTION: fly", "<|ACTION|>fly<|END|>", "{}", "east", "ACTION: east", "1" * 2000)
"""Answers to an agent: none at all, invalid ones, and some that may be valid."""


def check(plugin: Any) -> list[str]:
    """Use a plug-in as a run would, and return what is wrong with it, one line each; [] if nothing is.

    >>> balrog_rag.check("naive")
    []

    `plugin` is a registered name; an EnvironmentKind, ProgramKind, Statistic or Command; an agent's class or
    object (`act`); a model's class or object (`complete`); or a watcher (a function of one argument, or
    `see`). Games are played in this process, and a model that costs money is asked a few short questions.
    """
    findings = CheckFindings()
    for kinds, name, found in _meant(plugin):
        try:
            with trial_run.registered(kinds, name, found) as known:
                CHECKS[kinds.kind](known, found, findings)
        except BalrogError as error:
            findings(trial_run.line_of(error))
    return findings.lines


def _meant(plugin: Any) -> list[tuple["registry.Registry[Any]", str, Any]]:
    """Return the registry, the name and the object of what is checked; a name may mean several."""
    if isinstance(plugin, str):
        found = [kinds for kinds in REGISTRIES if plugin in kinds.names()]
        if not found:
            names = {name for kinds in REGISTRIES for name in kinds.names()}
            raise ConfigError(
                f"unknown plug-in {plugin!r}{registry.nearest(plugin, names, 'or use FILE.py:NAME')}"
            )
        return [(kinds, plugin, kinds.get(plugin)) for kinds in found]
    if (kinds := _CLASSES.get(type(plugin))) is not None:
        return [(kinds, plugin.name, plugin)]
    name = str(getattr(plugin, "__name__", type(plugin).__name__)).lower()
    for method, kinds in _METHODS.items():
        if callable(getattr(plugin, method, None)):
            return [(kinds, f"checked_{name}", _factory(plugin, kinds))]
    if callable(plugin) and not isinstance(plugin, type):
        return [(registry.watchers, f"checked_{name}", plugin)]
    raise ConfigError(
        f"{shown(plugin)}: cannot be checked; pass a registered name, an EnvironmentKind, a ProgramKind, "
        "a Statistic, a Command, or an object or a class with act, complete or see"
    )


def _factory(plugin: Any, kinds: "registry.Registry[Any]") -> Any:
    """Return what the registry expects: objects of agents and models become factories."""
    if isinstance(plugin, type) or kinds is registry.watchers:
        return plugin
    from balrog_rag.api.given_objects import AgentCopies, ModelObject

    return AgentCopies(plugin) if kinds is registry.agents else ModelObject(plugin, kinds.kind)


def _check_environment(name: str, plugin: Any, report: CheckFindings) -> None:
    kind = kind_of(name)
    check_kind(kind, report)
    if not report.lines:  # episodes would find the same once more
        game = f"env.tasks=[{name}/{playable(kind, kind.tasks())[0]}]"
        _tried(report, "agent=naive", "model=scripted", game)
        _tried(report, "agent=naive", "model=scripted", game, *_answers(NONSENSE))
        _tried(report, "agent=random", game)


def _answers(texts: tuple[str, ...]) -> list[str]:
    return [f"model.options.answers={trial_run.joined(texts)}", "model.options.order=sequence"]


def _tried(report: CheckFindings, *words: str) -> None:
    try:
        trial_run.trial(*words)
    except BalrogError as error:
        report(trial_run.line_of(error))


def _check_agent(name: str, plugin: Any, report: CheckFindings) -> None:
    agent, game = f"agent={name}", trial_run.small_game(name)
    _tried(report, agent, "model=scripted", *game)
    _tried(report, agent, "model=scripted", *game, *_answers(NONSENSE))


def _check_program(name: str, plugin: Any, report: CheckFindings) -> None:
    if not isinstance(plugin, ProgramKind):
        raise validation.fault("program", name, plugin, "register a ProgramKind")
    if plugin.plays:
        _tried(report, f"agent={name}", *trial_run.small_game(name))
        return
    game = trial_run.game_among(plugin.games)
    calls = (_call(plugin, 0), _call(plugin, 1))
    _tried(report, "agent=naive", "model=scripted", game, f"env.programs=[{name}]", *_answers(calls))


def _call(plugin: ProgramKind, choice: int) -> str:
    """Return a call with the first or the last arguments that are allowed."""
    words = [plugin.name]
    for parameter in plugin.parameters:
        if parameter.kind == "integer":
            low, high = parameter.least, parameter.most
            bounds = [
                low if low is not None else min(1, high or 1),
                high if high is not None else (low or 1) + 1,
            ]
            words.append(str(bounds[choice]))
        else:
            words.append(parameter.choices[-choice] if parameter.choices else "east")
    return " ".join(words)


def _check_model(name: str, plugin: Any, report: CheckFindings) -> None:
    _tried(report, "agent=naive", f"model={name}", "env=corridor", "limits.steps=2")


def _check_watcher(name: str, plugin: Any, report: CheckFindings) -> None:
    from balrog_rag.run.user_watchers import chosen_watchers, isolated
    from balrog_rag.run.watchers import CompositeWatcher

    async def watched() -> None:
        async with isolated(chosen_watchers([name]), lambda line, trace: report(line)) as watchers:
            await trial_run.played(
                CompositeWatcher(watchers), "agent=naive", "model=scripted", "env=corridor"
            )

    trial_run.waited(watched())


def _check_statistic(name: str, plugin: Any, report: CheckFindings) -> None:
    if not isinstance(plugin, Statistic) or plugin.name != name:
        raise validation.fault("statistic", name, plugin, f"register a Statistic named {name!r}")
    tasks = kind_of(plugin.env).tasks() if plugin.env else []
    game = f"env.tasks=[{plugin.env}/{tasks[0]}]" if tasks else "env=corridor"
    episodes = trial_run.trial("agent=random", game, "env.episodes=2")
    who = f"statistic {name!r}"
    for episode in episodes if plugin.episode is not None else ():
        figure = _figure(plugin.episode, episode, who, "episode()")
        if figure is not None and not plugin.low <= figure <= plugin.high:
            bounds = f"low={plugin.low:g} and high={plugin.high:g}"
            report(f"{who}: episode() is {figure:g}, outside {bounds}; correct one of them")
    for given in (episodes, episodes[:1]) if plugin.episodes is not None else ():
        _figure(plugin.episodes, given, who, "episodes()")


def _figure(compute: Any, given: Any, who: str, what: str) -> float | None:
    try:
        value = compute(given)
    except Exception as error:  # the code is a plug-in's
        raise validation.raised(who, what, error) from error
    return None if value is None else validation.number(value, who, what)


def _check_command(name: str, plugin: Any, report: CheckFindings) -> None:
    if not isinstance(plugin, Command) or plugin.name != name:
        raise validation.fault("command", name, plugin, f"register a Command named {name!r}")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = plugin.run(["--help"])
    except SystemExit as stop:  # as argparse ends
        code = 0 if stop.code is None else stop.code  # type: ignore[assignment]
    except BalrogError:
        raise
    except Exception as error:  # the code is a plug-in's
        raise validation.raised(f"command {name!r}", "run(['--help'])", error) from error
    if code != 0:
        report(f"command {name!r}: run(['--help']) ends with {shown(code)}; print its help and return 0")
    elif not said.getvalue().strip():
        report(f"command {name!r}: run(['--help']) prints nothing; print how it is used")


CHECKS: dict[str, Callable[[str, Any, CheckFindings], None]] = {
    "environment": _check_environment,
    "agent": _check_agent,
    "program": _check_program,
    "model": _check_model,
    "watcher": _check_watcher,
    "statistic": _check_statistic,
    "command": _check_command,
}
REGISTRIES = (
    registry.environments, registry.agents, registry.programs, registry.models, registry.watchers,
    registry.statistics, registry.commands,
)  # fmt: skip
_CLASSES: dict[type, "registry.Registry[Any]"] = {
    EnvironmentKind: registry.environments,
    ProgramKind: registry.programs,
    Statistic: registry.statistics,
    Command: registry.commands,
}
_METHODS: dict[str, "registry.Registry[Any]"] = {
    "act": registry.agents,
    "complete": registry.models,
    "see": registry.watchers,
}
