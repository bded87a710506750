"""A class in a user's file as an agent: `agent=FILE.py:CLASS`.

The file's code runs in this process. So it is imported only for runs that this user begins or trusts
(`run.services`); composing a configuration reads the file as text, and a run folder names it by its digest.
"""

import sys
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Agent, Knowledge
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.data import TaskView, digest
from balrog_rag.contracts.errors import ConfigError, PluginError
from balrog_rag.util.files import read_file


class ClassOptions(msgspec.Struct, frozen=True):
    """The options in agent.options that locate a class; the file may have others of its own."""

    path: str
    class_name: str
    asks_model: bool = True
    digest: str | None = None
    """Digest of the file and the class's name; taken when a run starts, and checked from then on."""

    @property
    def written(self) -> str:
        """The class as a user writes it."""
        return f"{self.path}:{self.class_name}"


class OwnClass:
    """The factory of agents whose class is in a file."""

    foreign = True

    def __new__(cls, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> Agent:  # type: ignore[misc]
        """Make an agent of that class."""
        agent: Agent = load(config.options)(config, view, llm, knowledge)
        return agent

    @staticmethod
    def asks_model(config: AgentConfig) -> bool:
        """Whether the class asks a model, as its file said when the run was composed."""
        return config.options.get("asks_model") is not False


def settled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Add the digest of the file's content; refuse another content than the one a run began with."""
    found = _options(options)
    content = _content(found)
    held = digest(content + b"\0" + found.class_name.encode())
    if found.digest is not None and found.digest != held:
        raise ConfigError(
            f"{found.path}: is not the file that this run started with "
            f"(digest {held[:12]} instead of {found.digest[:12]}); restore it, or start a new run"
        )
    return {**options, "digest": held}


def load(options: Mapping[str, Any]) -> Any:
    """Import the file, once per process and class, and return the class."""
    found = _options(settled(options))
    made = getattr(_module(found), found.class_name, None)
    if not isinstance(made, type) or not callable(getattr(made, "act", None)):
        raise ConfigError(
            f"agent={found.written}: not a class with act(observation); write one, or name a function"
        )
    return made


def _module(found: ClassOptions) -> ModuleType:
    path = Path(found.path)
    name = f"{path.stem}_{str(found.digest)[:16]}"  # another file of that name must not be taken for it
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # as an import does, so that its classes can find their module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # importing anybody's file can raise anything
        del sys.modules[name]
        line, trace = blame_of(error)
        raise PluginError(f"agent={found.written}: cannot be imported: {line}; correct it", trace) from error
    return module


def _options(options: Mapping[str, Any]) -> ClassOptions:
    try:
        return msgspec.convert(dict(options), ClassOptions)
    except msgspec.ValidationError as error:
        raise ConfigError(f"agent.options: {error}; write agent=FILE.py:CLASS") from error


def _content(found: ClassOptions) -> bytes:
    path = Path(found.path)
    if path.suffix != ".py" or not path.is_file():
        raise ConfigError(f"agent={found.written}: no such file; write agent=FILE.py:CLASS")
    return read_file(path)
