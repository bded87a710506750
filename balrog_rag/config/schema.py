"""The typed schema of conf/: what may be said, in which ranges, in one line each.

Defaults stand in conf/ alone; a field here has none. `checks.py` looks whether values are possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields, is_dataclass
from typing import Any, get_type_hints

from omegaconf import MISSING

from balrog_rag.contracts import registry


def key(
    doc: str,
    *,
    ge: float | None = None,
    le: float | None = None,
    choices: tuple[str, ...] = (),
    names: registry.Registry[Any] | None = None,
) -> Any:
    """A schema field: its one-line meaning and what values are possible; no default."""
    return field(default=MISSING, metadata=described(doc, ge, le, choices, names))


def described(
    doc: str,
    ge: float | None = None,
    le: float | None = None,
    choices: tuple[str, ...] = (),
    names: registry.Registry[Any] | None = None,
) -> dict[str, Any]:
    """What a schema field says of itself."""
    return {"doc": doc, "ge": ge, "le": le, "choices": choices, "names": names}


MOST_SEED = 2**63 - 1
"""Dice take seeds up to this."""


@dataclass
class RunConfig:
    """Where a run lives and which games it meets."""

    folder: str = key("folder that holds run folders")
    name: str | None = key("name of this run's folder; null: time, agent, and the model it asks")
    seed: int = key("the one seed from which every episode's game seeds come", ge=0, le=MOST_SEED)
    experiment: str | None = key("the named experiment that this run belongs to; filled in when it starts")
    departures: list[str] = key("settings that are not that experiment's; filled in when it starts")
    csv: bool = key("write BALROG's per-episode CSV beside each journal")
    ttyrec: bool = key(
        "also keep recordings in the game's own form, where it has one, under nld/ in the run folder"
    )


@dataclass
class EnvConfig:
    """The games: which tasks, how often, how they are seeded, shown and ended."""

    tasks: list[str] = key("tasks as env/task; `python -m balrog_rag.envs tasks NAME` lists them")
    episodes: int | None = key("episodes per task; null: as the kind of game has it", ge=1, le=100_000)
    programs: list[str] = key("programs offered as actions besides the game's own")
    max_steps: dict[str, int] = key(
        "a game's own steps, such as key presses, after which it is ended, by environment; others: as the "
        "kind has it",
        ge=1,
    )
    seeding: str = key(
        "spread: every episode its own game; fixed: one game for all; list: env.seeds in turn; balrog: as "
        "spread, but one game after the other where BALROG counts them",
        choices=("spread", "fixed", "list", "balrog"),
    )
    seeds: list[int] = key(
        "the seeds of env.seeding=list, or the first for =fixed (run.seed where empty)", ge=0, le=MOST_SEED
    )
    options: dict[str, Any] = key(
        "options of the kinds of game (`python -m balrog_rag.envs options NAME`); env.NAME=... is short for "
        "env.options.NAME=..., and env.options.KIND.NAME=... is for games of one kind alone"
    )


@dataclass
class HistoryConfig:
    """How old turns leave the prompt."""

    window: str = key(
        "slide: one turn a step, as BALROG; blocks: several at once, so that prompt caches hit",
        choices=("slide", "blocks"),
    )
    block: int = key("turns dropped together by window=blocks", ge=1)


@dataclass
class ShownConfig:
    """How an observation is written into the prompt."""

    map: str = key("full: as BALROG; trimmed: no trailing spaces", choices=("full", "trimmed"))
    past_maps: str = key(
        "which past observations keep their map: all, as BALROG; changed: those whose next one shows "
        "another; none: only the newest observation has a map",
        choices=("all", "changed", "none"),
    )
    # The default is for specs of earlier versions, whose prompts must not change; conf/ has that of new runs.
    keep_empty: bool = field(
        default=False, metadata=described("an observation without text still takes its line, as in BALROG")
    )


@dataclass
class RetrievalConfig:
    """Reference material from the knowledge base, for any agent."""

    enabled: bool = key("whether the agent looks things up at all")
    query: str = key(
        "what is looked up: the observation's long part, its short part or both; or keywords that the model "
        "writes (the paper's AutoRAG), with or without being told what it has asked before; noticed: "
        "questions that the kind of game makes of the moment, without a model, each searched for; "
        "truth: those and what is carried, too",
        choices=("observation", "short", "both", "model", "model_memory", "noticed", "truth"),
    )
    queries: int = key("most questions of one look-up with query=noticed or =truth", ge=1, le=20)
    examples: list[str] = key("queries that the prompt for one gives as examples")
    memory: int = key("earlier queries that query=model_memory tells the model", ge=1)
    when: str = key(
        "every: each step; interval: each `every` steps; novelty: when something new appears; "
        "asked: when the agent's answer asks for it; adaptive: by what the last look-ups brought",
        choices=("every", "interval", "novelty", "asked", "adaptive"),
    )
    every: int = key("steps from one look-up to the next with when=interval; the most with =adaptive", ge=1)
    gate: dict[str, float] = key(
        "weights by which when=adaptive decides, from `knowledge gate fit RUN`, and `worth`, the tokens that "
        "a changed action is worth; {}: a rule of its own"
    )
    low: float = key("share of hit points below which when=novelty takes notice", ge=0, le=1)
    forget: int = key(
        "steps after which a thing unseen since counts as new again, and a question of query=noticed is "
        "asked again",
        ge=1,
    )
    keep: int = key("steps for which reference material stays in the prompt until the next look-up", ge=0)
    k: int = key("passages asked for", ge=1, le=100)
    floor: float | None = key("passages with a lower score are dropped; null: none are")
    context: str = key(
        "what the agent is shown: whole passages, the start of each, or a summary made by another call",
        choices=("whole", "cut", "summary"),
    )
    chars: int = key("characters of each passage with context=cut", ge=1)
    titles: bool = key("show passages under their titles; the paper's agents show their texts alone")
    source_chars: int | None = key("characters of each passage that a summary is made from; null: all", ge=1)
    state_words: int = key("words that a summary may spend on the present state", ge=1)
    max_summary: int = key("characters above which a summary is left out", ge=1)
    place: str = key(
        "where reference material stands: before or after the newest observation, or in the instruction",
        choices=("before", "after", "system"),
    )
    reuse: str = key(
        "whether a repeated query takes what it got before: never, only right after itself, or ever",
        choices=("never", "last", "seen"),
    )
    reuse_size: int = key("queries remembered by reuse=seen", ge=1)


@dataclass
class BatchConfig:
    """Several actions in one answer."""

    size: int = key("actions an answer may hold; 1: one, as BALROG", ge=1, le=100)
    low: float = key("share of hit points below which no batch goes on", ge=0, le=1)


@dataclass
class NotebookConfig:
    """Notes that the agent writes for itself and reads back at every step."""

    enabled: bool = key("whether there is a notebook")
    lines: int = key("notes kept; the oldest go first", ge=1)
    chars: int = key("characters kept of each note", ge=1)


@dataclass
class LoopsConfig:
    """Telling an agent that it repeats itself."""

    enabled: bool = key("whether repetitions are looked for")
    repeats: int = key("times the same answer to the same screen makes a repetition", ge=2)
    window: int = key("steps looked back on", ge=2)


@dataclass
class AgentConfig:
    """How a player asks and answers."""

    name: str = key("agent or policy by its registered name")
    max_text_history: int = key("observations whose text is in the prompt, the newest included", ge=0)
    max_image_history: int = key("images in the prompt; 0: none", ge=0)
    max_cot_history: int = key("newest actions shown with the reasoning behind them", ge=0)
    remember_cot: bool = key("whether reasoning stays in the history at all")
    max_prompt_tokens: int | None = key("above this old turns are left out; null: the model's context", ge=1)
    lenient: bool = key("accept an answer that means one action without being written like it")
    fallback: str = key(
        "what counts where reasoning ends in no tags: none; letters: all letters of the answer",
        choices=("none", "letters"),
    )
    reason_words: int | None = key("words that the reason for an action may have; null: any number", ge=1)
    example: str | None = key("action that a prompt gives as an example; null: one of the game's own")
    system: str = key(
        "which instruction: balrog's; improved: with the three rules of the paper's Figure 7; paper: these "
        "and its repository's sentence against fixing on one action",
        choices=("balrog", "improved", "paper"),
    )
    instruction_role: str = key("who speaks the instruction; BALROG: user", choices=("user", "system"))
    prompts: dict[str, str] = key("texts, or @FILE, in place of prompt files, by the file's name without .j2")
    history: HistoryConfig = field(default_factory=HistoryConfig)
    observation: ShownConfig = field(default_factory=ShownConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    batch: BatchConfig = field(default_factory=BatchConfig)
    notebook: NotebookConfig = field(default_factory=NotebookConfig)
    loops: LoopsConfig = field(default_factory=LoopsConfig)
    demonstrations: list[str] = key("demonstration files that few_shot shows, in this order")
    demonstrations_digest: str | None = key("content hash of those files; null: taken when a run starts")
    max_icl_history: int = key(
        "messages of demonstrations shown at most, observations and actions counted apart", ge=1
    )
    options: dict[str, Any] = key("further options of an agent plug-in, by name")


@dataclass
class PriceConfig:
    """What tokens cost, in dollars a million; each null: as LiteLLM's table says."""

    input: float | None = key("dollars a million input tokens", ge=0)
    output: float | None = key("dollars a million output tokens, reasoning included", ge=0)
    cached: float | None = key("dollars a million input tokens read from the provider's cache", ge=0)


@dataclass
class RetryConfig:
    """How a failed call is asked again; answers are never asked again, whatever they say."""

    attempts: int = key("how often a call is sent at most", ge=1, le=1000)
    seconds: float = key("seconds after the first attempt in which another may still start", ge=0)
    first_wait: float = key("seconds before the second attempt; doubles each time, with jitter", ge=0)
    longest_wait: float = key("no wait is longer, unless the provider's Retry-After says so", ge=0)


@dataclass
class ModelConfig:
    """Which language model answers, and how it is asked."""

    backend: str = key("how it is reached", names=registry.models)
    name: str = key("model name; with backend litellm any LiteLLM id, e.g. openai/gpt-4o-mini")
    base_url: str | None = key("address of the endpoint; null: the provider's own, which hosted_vllm has not")
    api_key_env: str | None = key("environment variable that holds the key; null: the provider's usual one")
    temperature: float | None = key("sampling temperature; null: not sent", ge=0, le=2)
    max_tokens: int | None = key("longest answer, in tokens; null: not sent", ge=1)
    reasoning_effort: str | None = key(
        "how hard a reasoning model thinks, in the provider's words; null: unsaid"
    )
    thinking_budget: int | None = key("tokens a model may think before it answers; null: not sent", ge=0)
    stop: list[str] = key("texts at which an answer ends")
    seed: int | None = key("sampling seed sent with every call; null: not sent", ge=0)
    extra_headers: dict[str, Any] = key("further HTTP headers of every call")
    extra_body: dict[str, Any] = key("further fields of every call's body; stream is refused")
    fuse_roles: bool = key("join neighbouring messages of one role, for models whose roles must alternate")
    prompt_cache: bool = key("mark the stable head of the prompt for the provider's cache")
    constrain: bool = key("hold the answer to the agent's format by a grammar, where the model can")
    context: int | None = key("context length in tokens; null: as LiteLLM's table says", ge=64)
    price: PriceConfig = field(default_factory=PriceConfig)
    price_table: str = key(
        "LiteLLM's price table: the one it carries, or the newest from the network",
        choices=("carried", "online"),
    )
    concurrency: int = key("calls in flight at most", ge=1, le=10_000)
    requests_per_minute: int | None = key("calls a minute at most; null: no limit", ge=1)
    tokens_per_minute: int | None = key("tokens a minute at most, in and out; null: no limit", ge=1)
    connect_timeout: float = key("seconds after which a connection not yet made has failed", ge=0.01)
    timeout: float = key("seconds one attempt may take as a whole, slow bodies included", ge=0.01)
    max_answer_bytes: int = key(
        "bytes read of one answer, a sixteenth of them through LiteLLM; a longer one counts as broken",
        ge=1024,
    )
    retry: RetryConfig = field(default_factory=RetryConfig)
    options: dict[str, Any] = key("further options of a backend, by name")


@dataclass
class KnowledgeConfig:
    """Which passages can be found, and how."""

    corpus: str = key("corpus by its registered name, a folder of Markdown or text, or a file of passages")
    corpus_digest: str | None = key("hash of its passages; null: taken when a run starts")
    tokens: int = key(
        "longest passage that pages are cut into, in MiniLM's tokens; 0: pages stay whole", ge=0
    )
    overlap: int = key("tokens of one passage that the next one says again", ge=0)
    embedder: str = key("what turns texts into vectors", names=registry.embedders)
    index: str = key("how passages are found", names=registry.indexes)
    prior: dict[str, float] | None = key(
        "factors on the scores of passages, by what their ids begin with; null or {}: none"
    )
    passing: list[str] = key("phrases that are left out of queries, since they name no subject; []: none")
    parts: float = key(
        "factor on what is found for the parts of a query, between its commas, each searched for by itself; "
        "0: they are not",
        ge=0,
        le=1,
    )
    cover: float = key(
        "each part of a query, between its commas, gets a passage that speaks of it: one with at least this "
        "share of the best score for that part; 0: as they come",
        ge=0,
        le=1,
    )
    meaning: dict[str, str] | None = key(
        "what a part of a query, between its commas, is searched as where it is but that; {}: as it is"
    )
    versions: list[str] = key(
        "only passages about a version of the game that begins so, such as 3.6, or that name none; []: all"
    )
    reranker: str | None = key("what orders the best again; null: nothing", names=registry.rerankers)
    rerank: int = key("how many of the best a reranker orders", ge=1, le=1000)
    control: str = key(
        "what is given in the place of what is found: none: itself; shuffled: other passages of about that "
        "length; empty: as many characters that say nothing",
        choices=("none", "shuffled", "empty"),
    )
    folder: str | None = key("the index to use or build; null: one of its own for these settings")
    threads: int = key("processor threads for embedding and search", ge=1, le=256)
    options: dict[str, Any] = key("settings of each embedder, index and reranker, by its name")


@dataclass
class CapConfig:
    """Caps; null means none."""

    dollars: float | None = key("dollars spent on all model calls", ge=0)
    tokens: int | None = key("tokens of all model calls, in and out", ge=0)
    seconds: float | None = key("seconds of wall time", ge=0)


@dataclass
class LimitsConfig:
    """Where an episode or a run ends, scored and resumable, never as an error."""

    steps: int | None = key("agent steps after which an episode is ended; null: the environment's own", ge=1)
    episode: CapConfig = field(default_factory=CapConfig)
    run: CapConfig = field(default_factory=CapConfig)


@dataclass
class RunnerConfig:
    """How many at once, and where."""

    concurrency: int = key("episodes in play at once", ge=1, le=100_000)
    workers: int = key("processes that hold the games; 0: one a core", ge=0, le=4096)
    step_deadline: float = key("seconds after which a game that does not answer is taken for hung", ge=0.1)
    backend: str = key("who plays: this machine, or the nodes of a Ray cluster", choices=("local", "ray"))
    address: str | None = key("address of the Ray cluster; null: one of this machine alone, for this run")
    worker_memory: int | None = key(
        "megabytes above which a game process gets no new games; null: any", ge=64
    )
    log: str = key(
        "what is shown meanwhile; auto: the dashboard in a terminal, else plain",
        choices=("auto", "dashboard", "plain", "json", "none"),
    )


@dataclass
class Config:
    """All of it."""

    resume: str | None = key("run folder to go on with; everything else comes from its config.json")
    run: RunConfig = field(default_factory=RunConfig)
    env: EnvConfig = field(default_factory=EnvConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    knowledge: KnowledgeConfig = field(default_factory=KnowledgeConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    runner: RunnerConfig = field(default_factory=RunnerConfig)


def leaves(section: Any, prefix: str) -> Iterator[tuple[str, Field[Any], Any]]:
    """Every key below a section, with its schema field and its value."""
    for spec in fields(section):
        value = getattr(section, spec.name)
        if is_dataclass(value) and not isinstance(value, type):
            yield from leaves(value, f"{prefix}{spec.name}.")
        else:
            yield f"{prefix}{spec.name}", spec, value


def documented_keys(section: type = Config, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every key with its one-line meaning, for the docs and `--help`."""
    hints = get_type_hints(section)
    for spec in fields(section):
        kind = hints[spec.name]
        if is_dataclass(kind) and isinstance(kind, type):
            yield from documented_keys(kind, f"{prefix}{spec.name}.")
        else:
            yield f"{prefix}{spec.name}", spec.metadata.get("doc", "")
