"""The prompts: one `.j2` file each, with strict undefined names, hashed for provenance."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

from balrog_rag.agents.prompts import sandbox
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.contracts.registry import nearest
from balrog_rag.util.template_worker import environment, said

LISTED = "`balrog-rag prompts list` lists them"


@cache
def names() -> tuple[str, ...]:
    """Return the names of all prompts in the package."""
    folder = files("balrog_rag.agents.prompts")
    return tuple(sorted(file.name[:-3] for file in folder.iterdir() if file.name.endswith(".j2")))


@cache
def source(name: str) -> str:
    """Return a prompt's file unchanged."""
    if name not in names():
        raise ConfigError(f"unknown prompt {name!r}{nearest(name, names())}")
    return files("balrog_rag.agents.prompts").joinpath(f"{name}.j2").read_text("utf-8")


def of_kind(kind: EnvironmentKind) -> dict[str, str]:
    """Return a kind's prompts under the names by which they can be replaced: `instruction_NAME`."""
    return {f"{name}_{kind.name}": text for name, text in kind.hints.prompts().items()}


def sources(kinds: Iterable[EnvironmentKind]) -> dict[str, str]:
    """Return all prompt files and the prompts of these kinds of game, by name."""
    texts = {name: source(name) for name in names()}
    for kind in kinds:
        texts |= of_kind(kind)
    return {name: texts[name] for name in sorted(texts)}


def fingerprint(kinds: Iterable[EnvironmentKind]) -> dict[str, str]:
    """Return the content hash of each of them, for a run's provenance."""
    return {name: digest(text) for name, text in sources(kinds).items()}


def wants(text: str) -> list[str]:
    """Return the names of the values that a prompt uses."""
    try:
        return sandbox.wants(text)
    except sandbox.TemplateRefused as error:
        raise ConfigError(f"agent.prompts: a template {error}") from error


class Prompts:
    """The prompts of one agent: the package's files, some replaced by the configuration.

    Texts from the configuration may be somebody else's: they are rendered within limits (`sandbox`).
    """

    def __init__(
        self,
        replaced: Mapping[str, str] | None = None,
        kind: EnvironmentKind | None = None,
        own: Mapping[str, str] | None = None,
    ) -> None:
        """`replaced`: texts from the configuration, by the name of the prompt that each replaces.

        `own`: prompts that come with the agent or the kind of game instead of a file in this package.
        """
        self._replaced, self._own = dict(replaced or {}), dict(own or {})
        self._of_kind = {"guide": kind.hints.guide, "reading": kind.hints.reading} if kind else {}

    def has(self, name: str) -> bool:
        """Whether a prompt of that name exists."""
        return name in self._replaced or name in self._own or name in names()

    def check(self, own: Iterable[str]) -> None:
        """Raise ConfigError for the first replaced prompt that is unknown or not a valid template."""
        known = {*names(), *own}
        for name, text in self._replaced.items():
            if name not in known:
                raise ConfigError(f"agent.prompts.{name}: no such prompt{nearest(name, known, LISTED)}")
            try:
                sandbox.check(text)
            except sandbox.TemplateRefused as error:
                raise ConfigError(f"agent.prompts.{name}: {error}") from error

    def fixed(self, name: str, **values: object) -> str:
        """Render once and reuse the text in all episodes, for prompts that never change within an agent."""
        return self.repeated(name, **values).strip("\n")

    def repeated(self, name: str, **values: object) -> str:
        """Render as `exact` does, and reuse the text: for prompts whose values are often the same."""
        plain = [(key, _hashable(value)) for key, value in {**self._of_kind, **values}.items()]
        wanted = (name, self._replaced.get(name, self._own.get(name)), *plain)
        text = _fixed.get(wanted)
        if text is None:
            if len(_fixed) >= MOST_FIXED:
                _fixed.clear()
            text = _fixed[wanted] = self.exact(name, **values)
        return text

    def render(self, name: str, **values: object) -> str:
        """Render the prompt with these values, without surrounding line breaks."""
        return self.exact(name, **values).strip("\n")

    def exact(self, name: str, **values: object) -> str:
        """Render the prompt with these values; raise ConfigError for a name that is not given."""
        values = {**self._of_kind, **values}
        try:
            if name in self._replaced:
                return sandbox.render(self._replaced[name], values)
            text = self._own[name] if name in self._own else source(name)
            return str(_compiled(text).render(values))
        except sandbox.TemplateRefused as error:
            raise ConfigError(_wrong(f"agent.prompts.{name}", str(error), values)) from error
        except ConfigError:  # an unknown prompt
            raise
        except Exception as error:  # a template can raise anything
            raise ConfigError(_wrong(f"prompts/{name}.j2", said(error), values)) from error


def _wrong(where: str, what: str, values: Mapping[str, object]) -> str:
    return f"{where}: {what}; available values: {', '.join(values) or 'none'}"


_fixed: dict[tuple[object, ...], str] = {}
MOST_FIXED = 1000
"""Texts kept for further episodes; a run has a handful per task."""


def _hashable(value: object) -> object:
    return tuple(value.items()) if isinstance(value, Mapping) else value


@cache
def _compiled(text: str) -> Any:
    template = _environment().from_string(text)
    template.globals = dict(template.globals)  # a ChainMap, which every rendering would copy name by name
    return template


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    return environment()
