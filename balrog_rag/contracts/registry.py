"""Names for things that can be plugged in: one small registry a kind, open to other packages.

A built-in is listed below by module and attribute, so that naming it imports that module and nothing
else. Another package registers through the entry-point group `balrog_rag.<kind>s`, such as
`balrog_rag.agents`; its module is imported only when its name is used.
"""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from balrog_rag.contracts.errors import ConfigError, PluginError

T = TypeVar("T")


FEW = 20
"""Names among which a guess is uncertain, so that they are all listed."""
MANY = 60
"""Names that are too many to list."""


def nearest(name: str, names: Iterable[str], hint: str = "") -> str:
    """'; did you mean a, b?', and, where nothing is near, the valid names, or `hint` where they are many."""
    known = sorted(names)
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    meant = f"; did you mean {', '.join(close)}?" if close else ""
    sure = close and (len(known) > FEW or get_close_matches(name, close, n=1, cutoff=0.6))
    if not sure and len(known) > MANY:
        return f"; {hint or f'none of the {len(known)} valid names is like it'}"
    return meant if sure else f"{meant or ';'} valid names: {', '.join(known) or 'none'}"


class Registry(Generic[T]):
    """Factories of one kind by name."""

    def __init__(self, kind: str, builtin: dict[str, str]) -> None:
        """`builtin` maps a name to 'module:attribute', imported on first use."""
        self.kind = kind
        self._builtin = dict(builtin)
        self._added: dict[str, T] = {}

    def add(self, name: str) -> Callable[[T], T]:
        """Decorator for plug-ins defined in the running program."""

        def keep(factory: T) -> T:
            self._added[name] = factory
            return factory

        return keep

    def added(self, name: str) -> bool:
        """Whether the name was added in the running program, and so is known to no other process."""
        return name in self._added

    def names(self) -> list[str]:
        """Every name that can be used, plug-ins included; imports none of them."""
        return sorted({*self._builtin, *self._added, *self._points()})

    def rank(self, name: str) -> int:
        """The place of a built-in among those of its kind; a plug-in comes after all of them."""
        places = list(self._builtin)
        return places.index(name) if name in places else len(places)

    def get(self, name: str) -> T:
        """The factory of that name, or a ConfigError naming the nearest ones."""
        if name in self._added:
            return self._added[name]
        target = self._builtin.get(name)
        if target is None and name in self._points():
            return self._load_point(self._points()[name])
        if target is None:
            raise ConfigError(f"unknown {self.kind} {name!r}{nearest(name, self.names())}")
        module, _, attribute = target.partition(":")
        factory: T = getattr(import_module(module), attribute)
        return factory

    def _points(self) -> dict[str, EntryPoint]:
        return _entry_points(f"balrog_rag.{self.kind}s")

    def _load_point(self, point: EntryPoint) -> T:
        try:
            factory: T = point.load()
        except Exception as error:  # importing runs a stranger's module
            raise PluginError(
                f"{self.kind} plug-in {point.name!r} ({point.value}) cannot be imported: "
                f"{type(error).__name__}: {error}; fix or uninstall the package that provides it"
            ) from error
        return factory


@cache
def _entry_points(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in _installed().select(group=group)}


@cache
def _installed() -> Any:
    return entry_points()  # which goes through all installed packages, whatever is asked for


agents: Registry[Any] = Registry(
    "agent",
    {
        "naive": "balrog_rag.agents.naive:Naive",
        "cot": "balrog_rag.agents.cot:ChainOfThought",
        "robust_naive": "balrog_rag.agents.robust:RobustNaive",
        "robust_cot": "balrog_rag.agents.robust:RobustChainOfThought",
        "robust_star": "balrog_rag.agents.robust:RobustStar",
        "few_shot": "balrog_rag.agents.few_shot:FewShot",
        "netplay": "balrog_rag.agents.netplay:NetPlay",
        "netplay_guided": "balrog_rag.agents.netplay:GuidedNetPlay",
    },
)
programs: Registry[Any] = Registry(
    "program",
    {
        "random": "balrog_rag.agents.random:RANDOM",
        "dummy": "balrog_rag.agents.dummy:DUMMY",
        "delver": "balrog_rag.envs.nethack.delver:DELVER",
        "handcrafted": "balrog_rag.envs.nethack.netplay.handcrafted:HANDCRAFTED",
        "dig_down": "balrog_rag.envs.nethack.skills.offered:DIG_DOWN",
        "see_level": "balrog_rag.envs.nethack.skills.offered:SEE_LEVEL",
        "hold_out": "balrog_rag.envs.nethack.skills.offered:HOLD_OUT",
        "strike": "balrog_rag.envs.nethack.skills.offered:STRIKE",
        "pray_when_due": "balrog_rag.envs.nethack.skills.offered:PRAY_WHEN_DUE",
        "program": "balrog_rag.envs.nethack.guests:PROGRAM",
        "policy": "balrog_rag.envs.nethack.guests:POLICY",
        "autoascend": "balrog_rag.envs.nethack.guests:AUTOASCEND",
        "checkpoint": "balrog_rag.dataset.learn.player:CHECKPOINT",
        "scripted": "balrog_rag.envs.players:SCRIPTED",
    },
)
models: Registry[Any] = Registry(
    "model",
    {
        "scripted": "balrog_rag.models.scripted:ScriptedModel",
        "litellm": "balrog_rag.models.client:RemoteModel",
        "local": "balrog_rag.models.local:LocalModel",
        "replay": "balrog_rag.models.replaying:ReplayingModel",
    },
)
environments: Registry[Any] = Registry(
    "environment",
    {
        "nle": "balrog_rag.envs.nethack.kind:NETHACK",
        "minihack": "balrog_rag.envs.minihack.kind:MINIHACK",
        "netplay": "balrog_rag.envs.nethack.netplay.scenarios.kind:NETPLAY",
        "nethackers": "balrog_rag.envs.nethack.nethackers.kind:NETHACKERS",
        "babyai": "balrog_rag.envs.babyai.kind:BABYAI",
        "babaisai": "balrog_rag.envs.babaisai.kind:BABAISAI",
        "crafter": "balrog_rag.envs.crafter.kind:CRAFTER",
        "textworld": "balrog_rag.envs.textworld.kind:TEXTWORLD",
    },
)
embedders: Registry[Any] = Registry(
    "embedder",
    {
        "minilm": "balrog_rag.knowledge.embed.minilm:MiniLM",
        "sentence_transformers": "balrog_rag.knowledge.embed.sentence_transformers:SentenceTransformers",
        "litellm": "balrog_rag.knowledge.embed.litellm:LiteLLMEmbedder",
    },
)
indexes: Registry[Any] = Registry(
    "index",
    {
        "flat_ip": "balrog_rag.knowledge.index.faiss_indexes:FlatIP",
        "flat_l2": "balrog_rag.knowledge.index.faiss_indexes:FlatL2",
        "hnsw": "balrog_rag.knowledge.index.faiss_indexes:HNSW",
        "ivf_pq": "balrog_rag.knowledge.index.faiss_indexes:IVFPQ",
        "bm25": "balrog_rag.knowledge.index.bm25:BM25",
        "hybrid": "balrog_rag.knowledge.index.hybrid:Hybrid",
    },
)
corpora: Registry[Any] = Registry(
    "corpus",
    {
        "embedded": "balrog_rag.knowledge.corpus.embedded:pages",
        "minihack": "balrog_rag.knowledge.corpus.minihack:pages",
        "nethackwiki": "balrog_rag.knowledge.corpus.mediawiki:pages",
        "nethack_common": "balrog_rag.knowledge.corpus.nethack_common:pages",
        "spoilers": "balrog_rag.knowledge.corpus.spoilers:pages",
        "folder": "balrog_rag.knowledge.corpus.folder:pages",
    },
)
rerankers: Registry[Any] = Registry(
    "reranker",
    {
        "litellm": "balrog_rag.knowledge.rerank.litellm:LiteLLMReranker",
    },
)
