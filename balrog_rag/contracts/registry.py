"""Registries of plug-ins by name, one per kind, open to other packages.

Built-ins are declared by module and attribute in `balrog_rag/builtins.py`, so that using one imports only
its module, and this module depends on none of them. Other packages register through the entry-point group
`balrog_rag.<kind>s`, such as `balrog_rag.agents`; a module is imported only when its name is used.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from balrog_rag.contracts.errors import ConfigError, PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


FEW = 20
"""Up to this many names are all listed when a guess is uncertain."""
MANY = 60
"""More names than this are never listed."""


def nearest(name: str, names: Iterable[str], hint: str = "") -> str:
    """Suggest names like this one; list all valid names, or `hint` if they are many, when unsure."""
    known = sorted(names)
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    meant = f"; did you mean {', '.join(close)}?" if close else ""
    sure = close and (len(known) > FEW or get_close_matches(name, close, n=1, cutoff=0.6))
    if not sure and len(known) > MANY:
        return f"; {hint or f'none of the {len(known)} valid names is like it'}"
    return meant if sure else f"{meant or ';'} valid names: {', '.join(known) or 'none'}"


class Registry(Generic[T]):
    """Factories of one kind by name."""

    def __init__(self, kind: str) -> None:
        """`kind` is the singular in messages; its plural names the entry-point group."""
        self.kind = kind
        self._builtin: dict[str, str] = {}
        self._added: dict[str, T] = {}

    def declare(self, builtin: Mapping[str, str]) -> None:
        """Add built-ins: each name maps to 'module:attribute', imported on first use."""
        self._builtin.update(builtin)

    def add(self, name: str) -> Callable[[T], T]:
        """Register a plug-in defined in the running program (decorator)."""

        def keep(factory: T) -> T:
            self._added[name] = factory
            return factory

        return keep

    def remove(self, name: str) -> None:
        """Forget a plug-in that the running program added."""
        self._added.pop(name, None)

    def added(self, name: str) -> bool:
        """Whether the name was added in the running program, so that other processes do not know it."""
        return name in self._added

    def added_as(self, name: str) -> T | None:
        """Return what the running program registered under this name; None for other names."""
        return self._added.get(name)

    def names(self) -> list[str]:
        """Return every usable name, including plug-ins, without importing any."""
        return sorted({*self._builtin, *self._added, *self._points()})

    def has(self, name: str) -> bool:
        """Whether the name is usable."""
        return name in self._builtin or name in self._added or name in self._points()

    def plugged(self) -> list[str]:
        """Return the names that are not built in."""
        return sorted({*self._added, *self._points()} - {*self._builtin})

    def rank(self, name: str) -> int:
        """Return the position of a built-in among its kind; plug-ins come after all of them."""
        places = list(self._builtin)
        return places.index(name) if name in places else len(places)

    def get(self, name: str) -> T:
        """Return the factory of that name; raise ConfigError with the nearest names."""
        if name in self._added:
            return self._added[name]
        target = self._builtin.get(name)
        if target is None and name in self._points():
            return self._load_point(self._points()[name])
        if target is None:
            raise ConfigError(f"unknown {self.kind} {name!r}{nearest(name, self.names())}")
        module, _, attribute = target.partition(":")
        # Asked for by every episode of a report: import_module takes ten times as long for a loaded module.
        # One that another thread is importing lacks the attribute yet; import_module waits for it.
        loaded = sys.modules.get(module)
        factory: T = getattr(loaded if hasattr(loaded, attribute) else import_module(module), attribute)
        return factory

    def _points(self) -> "dict[str, EntryPoint]":
        return _entry_points(f"balrog_rag.{self.kind}s")

    def _load_point(self, point: "EntryPoint") -> T:
        try:
            factory: T = point.load()
        except Exception as error:  # importing a plug-in's module can raise anything
            raise PluginError(
                f"{self.kind} plug-in {point.name!r} ({point.value}) cannot be imported: "
                f"{type(error).__name__}: {error}; fix or uninstall the package that provides it"
            ) from error
        return factory


@cache
def _entry_points(group: str) -> "dict[str, EntryPoint]":
    return {point.name: point for point in _installed().select(group=group)}


@cache
def _installed() -> Any:
    from importlib.metadata import entry_points  # takes 15 ms, and `import balrog_rag` loads this module

    return entry_points()  # cached, because it scans all installed packages


agents: Registry[Any] = Registry("agent")
programs: Registry[Any] = Registry("program")
models: Registry[Any] = Registry("model")
environments: Registry[Any] = Registry("environment")
embedders: Registry[Any] = Registry("embedder")
indexes: Registry[Any] = Registry("index")
corpora: Registry[Any] = Registry("corpus")
rerankers: Registry[Any] = Registry("reranker")
watchers: Registry[Any] = Registry("watcher")
statistics: Registry[Any] = Registry("statistic")
commands: Registry[Any] = Registry("command")
skill_sets: Registry[Any] = Registry("skill_set")
advisers: Registry[Any] = Registry("adviser")
"""Programs that `env.actions=NAME` offers together: a function of whether to include the rare ones."""
