"""The typed schema of conf/: every key with its valid values and a one-line description.

Defaults are only in conf/; fields here have none. `checks.py` validates values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, get_type_hints

from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.schema_keys import described, key
from balrog_rag.contracts import registry

MOST_SEED = 2**63 - 1
"""Largest seed of an RNG."""


@dataclass
class RunConfig:
    """Where a run is stored and which games it plays."""

    folder: str = key("parent folder of run folders")
    name: str | None = key("name of this run's folder; null: time, agent and model")
    seed: int = key("seed from which every episode's game seeds are derived", ge=0, le=MOST_SEED)
    experiment: str | None = key("experiment that this run belongs to; set when it starts")
    departures: list[str] = key("settings that differ from that experiment; set when it starts")
    csv: bool = key("write BALROG's per-episode CSV beside each journal")
    pack: int | None = field(
        default=None,
        metadata=described(
            "pack this many journals of finished episodes into one file; null: each has its own files",
            ge=2,
            le=100_000,
            implied=True,
        ),
    )
    watch: list[str] = key(
        "registered watchers that receive every event of the run's episodes", names=registry.watchers
    )
    ttyrec: bool = key(
        "also write recordings in the game's native format, if it has one, to nld/ in the run folder"
    )


@dataclass
class EnvConfig:
    """The games: tasks, number of episodes, seeding, display and step limits."""

    tasks: list[str] = key("tasks as env/task; list them with `balrog-rag envs tasks NAME`")
    episodes: int | None = key("episodes per task; null: the default of the kind of game", ge=1, le=1_000_000)
    programs: list[str] = key("programs offered as additional actions")
    max_steps: dict[str, int] = key(
        "limit on a game's own steps, such as key presses, by environment; others: the default of the "
        "kind of game",
        ge=1,
    )
    seeding: str = key(
        "spread: a different game per episode; fixed: one game for all; list: env.seeds in turn; balrog: as "
        "spread, but consecutive games where BALROG numbers them",
        choices=("spread", "fixed", "list", "balrog"),
    )
    seeds: list[int] = key(
        "the seeds of env.seeding=list, or the first for =fixed (run.seed if empty)", ge=0, le=MOST_SEED
    )
    options: dict[str, Any] = key(
        "options of the kinds of game (`balrog-rag envs options NAME`); env.NAME=... is short for "
        "env.options.NAME=..., and env.options.KIND.NAME=... applies to one kind only"
    )


@dataclass
class PriceConfig:
    """Token prices in dollars per million; null: from LiteLLM's price table."""

    input: float | None = key("dollars per million input tokens", ge=0)
    output: float | None = key("dollars per million output tokens, including reasoning", ge=0)
    cached: float | None = key("dollars per million input tokens read from the provider's cache", ge=0)


@dataclass
class RetryConfig:
    """How a failed call is retried; an answered call is never repeated, whatever the answer says."""

    attempts: int = key("maximum attempts per call", ge=1, le=1000)
    seconds: float = key("seconds after the first attempt during which a retry may start", ge=0)
    first_wait: float = key("seconds before the second attempt; doubles each time, with jitter", ge=0)
    longest_wait: float = key("longest wait in seconds, unless the provider's Retry-After is longer", ge=0)


@dataclass
class ModelConfig:
    """Which language model is used, and its request parameters."""

    backend: str = key("registered name of the model backend", names=registry.models)
    name: str = key("model name; with backend litellm any LiteLLM id, e.g. openai/gpt-4o-mini")
    base_url: str | None = key("endpoint URL; null: the provider's default (hosted_vllm has none)")
    api_key_env: str | None = key("environment variable with the API key; null: the provider's usual one")
    temperature: float | None = key("sampling temperature; null: not sent", ge=0, le=2)
    max_tokens: int | None = key("maximum answer length in tokens; null: not sent", ge=1)
    reasoning_effort: str | None = key("reasoning effort, in the provider's terms; null: not sent")
    thinking_budget: int | None = key("maximum reasoning tokens; null: not sent", ge=0)
    stop: list[str] = key("stop sequences")
    seed: int | None = key("sampling seed sent with every call; null: not sent", ge=0)
    extra_headers: dict[str, Any] = key("additional HTTP headers for every call")
    extra_body: dict[str, Any] = key("additional fields for the body of every call; stream is not allowed")
    fuse_roles: bool = key("merge consecutive messages of one role, if the model requires alternation")
    # The default is for specs of earlier versions.
    content: str = field(
        default="text",
        metadata=described(
            "how a message's content is sent: text, or a list of parts as BALROG sends it",
            choices=("text", "parts"),
        ),
    )
    prompt_cache: bool = key("mark the stable start of the prompt for the provider's cache")
    constrain: bool = key("enforce the agent's answer format with a grammar, if the model supports it")
    context: int | None = key("context length in tokens; null: from LiteLLM's table", ge=64)
    price: PriceConfig = field(default_factory=PriceConfig)
    price_table: str = key(
        "LiteLLM's price table: bundled, or the latest from the network",
        choices=("carried", "online"),
    )
    concurrency: int = key("maximum concurrent calls", ge=1, le=10_000)
    requests_per_minute: int | None = key("maximum calls per minute; null: no limit", ge=1)
    tokens_per_minute: int | None = key("maximum tokens per minute, input and output; null: no limit", ge=1)
    connect_timeout: float = key("connection timeout in seconds", ge=0.01)
    timeout: float = key("timeout in seconds for a whole attempt, including the response body", ge=0.01)
    max_answer_bytes: int = key(
        "maximum response size in bytes (a sixteenth with LiteLLM); a longer response is an error",
        ge=1024,
    )
    retry: RetryConfig = field(default_factory=RetryConfig)
    options: dict[str, Any] = key("options of the backend, by name")


@dataclass
class KnowledgeConfig:
    """Which passages can be retrieved, and how."""

    corpus: str = key("registered corpus, folder of Markdown or text files, or file of passages")
    corpus_digest: str | None = key("hash of its passages; null: computed when a run starts")
    tokens: int = key("maximum passage length when pages are split, in MiniLM's tokens; 0: whole pages", ge=0)
    overlap: int = key("tokens shared by consecutive passages", ge=0)
    embedder: str = key("registered embedder, which turns texts into vectors", names=registry.embedders)
    index: str = key("registered index, which finds passages", names=registry.indexes)
    prior: dict[str, float] | None = key(
        "factors on the scores of passages, by prefix of their ids; null or {}: none"
    )
    passing: list[str] = key("phrases to remove from queries because they do not name a subject; []: none")
    parts: float = key(
        "weight of the results for each comma-separated part of a query, searched separately; "
        "0: parts are not searched",
        ge=0,
        le=1,
    )
    cover: float = key(
        "each comma-separated part of a query gets a passage about it: one with at least this "
        "share of the best score for that part; 0: by score only",
        ge=0,
        le=1,
    )
    meaning: dict[str, str] | None = key(
        "rewrite rules for query parts that match exactly (e.g. `trapped`); {}: none"
    )
    versions: list[str] = key(
        "prefixes of game versions, such as 3.6: only passages about these or about none; []: all"
    )
    reranker: str | None = key(
        "registered reranker of the best passages; null: none", names=registry.rerankers
    )
    rerank: int = key("number of passages to rerank", ge=1, le=1000)
    control: str = key(
        "control condition: none: the retrieved passages; shuffled: other passages of about the same "
        "length; empty: the same number of meaningless characters",
        choices=("none", "shuffled", "empty"),
    )
    folder: str | None = key("folder of the index to use or build; null: one for exactly these settings")
    threads: int = key("threads for embedding and search", ge=1, le=256)
    options: dict[str, Any] = key("options of embedders, indexes and rerankers, by name")


@dataclass
class CapConfig:
    """Caps; null: no cap."""

    dollars: float | None = key("dollars for all model calls", ge=0)
    tokens: int | None = key("tokens of all model calls, input and output", ge=0)
    seconds: float | None = key("seconds of wall time", ge=0)


@dataclass
class LimitsConfig:
    """Limits on an episode or a run; reaching one is not an error, and the run can be resumed."""

    steps: int | None = key("maximum agent steps per episode; null: the environment's own limit", ge=1)
    until: str = key(
        "end of a run: plan: every planned episode; verdict: a sequential design, in which a run stops when "
        "its comparison with the baseline is decided",
        choices=("plan", "verdict"),
    )
    against: str | None = key("finished run to compare a single run with, for until=verdict")
    episode: CapConfig = field(default_factory=CapConfig)
    run: CapConfig = field(default_factory=CapConfig)


@dataclass
class RunnerConfig:
    """Parallelism, and where episodes are played."""

    concurrency: int = key("maximum concurrent episodes", ge=1, le=100_000)
    workers: int = key("worker processes for games; 0: one per core", ge=0, le=4096)
    step_deadline: float = key("seconds after which an unresponsive game is considered hung", ge=0.1)
    backend: str = key("where to play: this machine, or the nodes of a Ray cluster", choices=("local", "ray"))
    address: str | None = key("address of the Ray cluster; null: start one on this machine for this run")
    worker_memory: int | None = key(
        "memory in megabytes above which a worker process gets no new games; null: no limit", ge=64
    )
    shard: str | None = key(
        "part of the run to play: K/N, as in 3/8; /N: K from the array job; off: all; null: what the "
        "environment of an array job says, otherwise all"
    )
    store: str | None = field(
        default=None,
        metadata=described(
            "object store for copies of the journals, such as s3://bucket/prefix; null: none",
            implied=True,
        ),
    )
    store_every: float = field(
        default=60.0,
        metadata=described("seconds between uploads of journals that are being written", ge=1, implied=True),
    )
    log: str = key(
        "progress display; auto: the dashboard in a terminal, a bar in a notebook, otherwise plain",
        choices=("auto", "dashboard", "plain", "json", "none"),
    )


@dataclass
class Config:
    """The whole configuration."""

    resume: str | None = key("run folder to resume; all other settings come from its config.json")
    run: RunConfig = field(default_factory=RunConfig)
    env: EnvConfig = field(default_factory=EnvConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    knowledge: KnowledgeConfig = field(default_factory=KnowledgeConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    runner: RunnerConfig = field(default_factory=RunnerConfig)


@cache
def documented_keys(section: type = Config, prefix: str = "") -> tuple[tuple[str, str], ...]:
    """Return every key with its one-line description, for the docs and `--help`."""
    hints = get_type_hints(section)
    found: list[tuple[str, str]] = []
    for spec in fields(section):
        kind = hints[spec.name]
        if is_dataclass(kind) and isinstance(kind, type):
            found += documented_keys(kind, f"{prefix}{spec.name}.")
        else:
            found.append((f"{prefix}{spec.name}", spec.metadata.get("doc", "")))
    return tuple(found)
