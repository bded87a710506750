"""The words that models read: one `.j2` file a prompt, strict about names, hashed for the record."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.contracts.registry import nearest


@cache
def names() -> tuple[str, ...]:
    """Every prompt that comes with the package."""
    folder = files("balrog_rag.agents.prompts")
    return tuple(sorted(file.name[:-3] for file in folder.iterdir() if file.name.endswith(".j2")))


@cache
def source(name: str) -> str:
    """A prompt's file, as it stands."""
    if name not in names():
        raise ConfigError(f"no prompt {name!r}{nearest(name, names())}")
    return files("balrog_rag.agents.prompts").joinpath(f"{name}.j2").read_text("utf-8")


def of_kind(kind: EnvironmentKind) -> dict[str, str]:
    """The words of a kind of game, under the names by which they can be replaced: `instruction_NAME`."""
    return {f"{name}_{kind.name}": text for name, text in kind.prompts().items()}


def sources(kinds: Iterable[EnvironmentKind]) -> dict[str, str]:
    """Every prompt file and the words of these kinds of game, by name."""
    texts = {name: source(name) for name in names()}
    for kind in kinds:
        texts |= of_kind(kind)
    return {name: texts[name] for name in sorted(texts)}


def fingerprint(kinds: Iterable[EnvironmentKind]) -> dict[str, str]:
    """The content hash of each of them, for a run's provenance."""
    return {name: digest(text) for name, text in sources(kinds).items()}


def wants(text: str) -> list[str]:
    """The values that a prompt uses."""
    return sorted(meta.find_undeclared_variables(_environment().parse(text)))


class Prompts:
    """The prompts of one agent: the package's files, with some replaced by the configuration."""

    def __init__(
        self, replaced: Mapping[str, str] | None = None, kind: EnvironmentKind | None = None
    ) -> None:
        """`replaced` maps a prompt's name to the text that stands in for its file, or an agent's own."""
        self._replaced = dict(replaced or {})
        self._of_kind = {"guide": kind.guide, "reading": kind.reading} if kind else {}

    def has(self, name: str) -> bool:
        """Whether there is such a prompt."""
        return name in self._replaced or name in names()

    def check(self, own: Iterable[str]) -> None:
        """Raise a ConfigError for the first replaced prompt that nobody asks for or that is no template."""
        known = {*names(), *own}
        for name, text in self._replaced.items():
            if name not in known:
                raise ConfigError(f"agent.prompts.{name}: no such prompt{nearest(name, known)}")
            try:
                _compiled(text)
            except Exception as error:  # endless numbers and nesting are no TemplateError
                raise ConfigError(f"agent.prompts.{name}: {_said(error)}") from error

    def fixed(self, name: str, **values: object) -> str:
        """The same as `render`, done once for all episodes: for what stands in every prompt of an agent."""
        plain = [(key, _hashable(value)) for key, value in {**self._of_kind, **values}.items()]
        wanted = (name, self._replaced.get(name), *plain)
        text = _fixed.get(wanted)
        if text is None:
            if len(_fixed) >= MOST_FIXED:
                _fixed.clear()
            text = _fixed[wanted] = self.render(name, **values)
        return text

    def render(self, name: str, **values: object) -> str:
        """The prompt with these values; a name that it uses and is not given is an error."""
        text = self._replaced.get(name)
        values = {**self._of_kind, **values}
        try:
            return str(_compiled(source(name) if text is None else text).render(values)).strip("\n")
        except Exception as error:  # a template is a program: whatever it raises is its author's
            where = f"prompts/{name}.j2" if text is None else f"agent.prompts.{name}"
            raise ConfigError(
                f"{where}: {_said(error)}; it is given: {', '.join(values) or 'nothing'}"
            ) from error


_fixed: dict[tuple[object, ...], str] = {}
MOST_FIXED = 1000
"""Texts kept for further episodes; a run has a handful for each of its tasks."""


def _hashable(value: object) -> object:
    return tuple(value.items()) if isinstance(value, Mapping) else value


def _said(error: Exception) -> str:
    """What is wrong with a template, on one line; Jinja's own errors say it in full."""
    said = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
    return " ".join(said.split())


@cache
def _compiled(text: str) -> Any:
    return _environment().from_string(text)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    # Sandboxed, since a configuration, and with it a prompt, may come from a foreign run folder.
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
