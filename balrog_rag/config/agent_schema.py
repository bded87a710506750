"""The part of the schema of conf/ that describes an agent and its wrappers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from balrog_rag.config.schema_keys import described, key

OWN_LOOPS = {"own_loop": "own loop", "human": "human"}
"""Agents whose decisions come from outside the harness, with the label that tables show as their model."""


@dataclass
class HistoryConfig:
    """How old turns are removed from the prompt."""

    window: str = key(
        "slide: one turn per step, as in BALROG; blocks: several at once, for more prompt cache hits; "
        "append: none until the prompt's limit, every message stays as it was sent, for training",
        choices=("slide", "blocks", "append"),
    )
    block: int = key("turns removed together with window=blocks", ge=1)


@dataclass
class ShownConfig:
    """How observations are written into the prompt."""

    map: str = key("full: as in BALROG; trimmed: no trailing spaces", choices=("full", "trimmed"))
    past_maps: str = key(
        "which past observations keep their map: all, as in BALROG; changed: those followed by a different "
        "map; none: only the newest observation has a map",
        choices=("all", "changed", "none"),
    )
    # The default is for specs of earlier versions, whose prompts must not change; conf/ has that of new runs.
    keep_empty: bool = field(
        default=False, metadata=described("keep the line of an observation without text, as in BALROG")
    )


@dataclass
class RetrievalConfig:
    """Retrieval of passages from the knowledge base, for any agent."""

    enabled: bool = key("whether the agent uses retrieval")
    query: str = key(
        "the query: the observation's long part, its short part or both; or keywords that the model "
        "writes (the paper's AutoRAG), with or without its earlier queries; noticed: "
        "questions that the kind of game derives from the situation, without a model; "
        "truth: those and one about the inventory",
        choices=("observation", "short", "both", "model", "model_memory", "noticed", "truth"),
    )
    queries: int = key("maximum questions per look-up with query=noticed or =truth", ge=1, le=20)
    examples: list[str] = key("example queries in the prompt that asks for a query")
    memory: int = key("earlier queries that query=model_memory shows the model", ge=1)
    when: str = key(
        "every: each step; interval: every `every` steps; novelty: when something new appears; "
        "asked: when the agent's answer requests it; adaptive: by the results of earlier look-ups",
        choices=("every", "interval", "novelty", "asked", "adaptive"),
    )
    every: int = key("steps between look-ups with when=interval; the maximum with =adaptive", ge=1)
    gate: dict[str, float] = key(
        "weights of when=adaptive, from `knowledge gate fit RUN`, and `worth`, the tokens that "
        "a changed action is worth; {}: a built-in rule"
    )
    low: float = key("share of hit points below which when=novelty looks up", ge=0, le=1)
    forget: int = key(
        "steps without seeing a thing after which it counts as new, and a query=noticed question is repeated",
        ge=1,
    )
    order: str = field(
        default="listed",
        metadata=described(
            "order of query=noticed questions: listed: message, states, things as the game lists them; "
            "urgent: the game's open question, what can kill now, then news and things, nearest first",
            choices=("listed", "urgent"),
            implied=True,
        ),
    )
    keep: int = key("maximum steps that reference material stays in the prompt without a new look-up", ge=0)
    keep_tokens: int = field(
        default=0,
        metadata=described(
            "with order=urgent, tokens of passages that stay in the prompt while what they are about lasts",
            ge=0,
            le=100_000,
            implied=True,
        ),
    )
    k: int = key("number of passages to retrieve", ge=1, le=100)
    floor: float | None = key("drop passages with a lower score; null: keep all")
    context: str = key(
        "what the prompt contains: whole passages, the start of each, or a summary by another model call",
        choices=("whole", "cut", "summary"),
    )
    chars: int = key("characters per passage with context=cut", ge=1)
    titles: bool = key("show passages with their titles; the paper's agents omit titles")
    source_chars: int | None = key("characters per passage that a summary is made from; null: all", ge=1)
    state_words: int = key("maximum words about the present state in a summary", ge=1)
    max_summary: int = key("discard a summary longer than this many characters", ge=1)
    place: str = key(
        "position of reference material: before or after the newest observation, or in the instruction",
        choices=("before", "after", "system"),
    )
    reuse: str = key(
        "when a repeated query reuses its earlier result: never, only directly after itself, or always",
        choices=("never", "last", "seen"),
    )
    reuse_size: int = key("queries cached by reuse=seen", ge=1)


@dataclass
class BatchConfig:
    """Several actions in one answer."""

    size: int = key("maximum actions per answer; 1: one, as in BALROG", ge=1, le=100)
    low: float = key("share of hit points below which a batch is interrupted", ge=0, le=1)


@dataclass
class NotebookConfig:
    """Notes that the agent writes and reads back at every step."""

    enabled: bool = key("whether the agent has a notebook")
    lines: int = key("maximum notes; the oldest are removed first", ge=1)
    chars: int = key("maximum characters per note", ge=1)


@dataclass
class LoopsConfig:
    """Warnings to an agent that repeats itself."""

    enabled: bool = key("whether repetitions are detected")
    repeats: int = key("times the same answer to the same screen counts as a repetition", ge=2)
    window: int = key("number of past steps compared", ge=2)


@dataclass
class AgentConfig:
    """How a player builds prompts and reads answers."""

    name: str = key("registered name of an agent or policy")
    max_text_history: int = key("observations whose text is in the prompt, the newest included", ge=0)
    max_image_history: int = key("images in the prompt; 0: none", ge=0)
    max_cot_history: int = key("number of recent actions shown with their reasoning", ge=0)
    remember_cot: bool = key("whether reasoning is kept in the history")
    max_prompt_tokens: int | None = key("above this old turns are dropped; null: the model's context", ge=1)
    lenient: bool = key("accept an answer that unambiguously means one action in another notation")
    fallback: str = key(
        "fallback for reasoning without a tagged action: none; letters: all letters of the answer",
        choices=("none", "letters"),
    )
    # The default is for specs of earlier versions, and is left out of new ones: digests stay the same.
    answers: str = field(
        default="text",
        metadata=described(
            "how an action is given: text, as in BALROG; tools: native tool calls",
            choices=("text", "tools"),
            implied=True,
        ),
    )
    reason_words: int | None = key("maximum words of the reason for an action; null: no limit", ge=1)
    example: str | None = key("example action in the prompt; null: an action of the game")
    system: str = key(
        "instruction: balrog: original; improved: with the three rules of the paper's Figure 7; paper: these "
        "and the repository's sentence against fixating on one action",
        choices=("balrog", "improved", "paper"),
    )
    instruction_role: str = key("role of the instruction message; BALROG: user", choices=("user", "system"))
    prompts: dict[str, str] = key("texts, or @FILE, that replace prompt files, by file name without .j2")
    history: HistoryConfig = field(default_factory=HistoryConfig)
    observation: ShownConfig = field(default_factory=ShownConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    batch: BatchConfig = field(default_factory=BatchConfig)
    notebook: NotebookConfig = field(default_factory=NotebookConfig)
    loops: LoopsConfig = field(default_factory=LoopsConfig)
    demonstrations: list[str] = key(
        "demonstrations for few_shot: files of `prompts demonstrate`, records of BALROG, folders of both"
    )
    # The defaults of these two are for specs of earlier versions, which showed every file.
    demonstrations_of: str = field(
        default="any",
        metadata=described(
            "which of them are shown: task: those of the task being played; any: all", choices=("task", "any")
        ),
    )
    icl_episodes: int | None = field(
        default=None,
        metadata=described(
            "how many of them are shown, drawn with the game's seed; null: all, in the order listed", ge=1
        ),
    )
    demonstrations_digest: str | None = key("content hash of those files; null: computed when a run starts")
    max_icl_history: int = key(
        "maximum demonstration messages; an observation and an action count as one each", ge=1
    )
    options: dict[str, Any] = key("options of an agent plug-in, by name")
