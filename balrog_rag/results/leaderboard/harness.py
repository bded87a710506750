"""The harness card of a submission: all settings that differ from BALROG's, and unavoidable differences."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from balrog_rag.config.frozen import differing_keys, leaf_items
from balrog_rag.contracts.data import CONNECTION_KEYS
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.results.arms import in_order
from balrog_rag.results.comparability import short
from balrog_rag.results.episodes import any_asked
from balrog_rag.results.report.markdown import escaped
from balrog_rag.results.runs import LoadedRun
from balrog_rag.util.wording import many

FILE = "harness.md"
COMPARED = ("env.", "limits.steps", "agent.", "model.")
NO_SETTINGS = (
    *("env.tasks", "env.episodes", "env.seeds", "agent.prompts.", "agent.demonstrations_digest"),
    *(
        "model.name",
        "model.backend",
        "model.options.",
        *(f"model.{name}" for name in CONNECTION_KEYS["model"]),
    ),
)
"""Keys that are reported separately, or that describe where the model is rather than how it is called."""
ADDITIONS = {
    "agent.retrieval.enabled": ("agent.retrieval.", "knowledge."),
    "agent.notebook.enabled": ("agent.notebook.",),
    "agent.loops.enabled": ("agent.loops.",),
}
"""Features that BALROG lacks: if one is on, all its settings are listed."""
EMPTY: tuple[Any, ...] = (None, "", [], {})
UNSEEN = (
    "knowledge.corpus_digest",
    "knowledge.options.",
    *(f"knowledge.{name}" for name in CONNECTION_KEYS["knowledge"]),
)

ALWAYS = (
    "Games are played by the packages that run.json names with their versions.",
    "A game's seeds follow from run.seed and the episode's name, and its clock is pinned; BALROG's seeds "
    "follow from the time of day.",
    "An interrupted game is resumed; BALROG omits it. Failed calls are retried as "
    "configured in model.retry; BALROG gives up after five.",
    "A prompt beyond the model's context loses its oldest turns; BALROG sends it whole.",
    "A two-digit answer is typed; in BALROG it ends the game with an error.",
)
"""How this harness differs from BALROG in any configuration."""


class Setting(NamedTuple):
    """A setting that differs from BALROG's."""

    key: str
    here: str
    balrogs: str


def unlike(run: LoadedRun, protocol: Mapping[str, Any]) -> list[Setting]:
    """Return every setting of a run that differs from BALROG's."""
    ours, its = complete(run.config, run.config, protocol), complete(protocol, run.config, protocol)
    here, theirs = dict(leaf_items(ours)), dict(leaf_items(its))
    added = tuple(part for switch, parts in ADDITIONS.items() if here.get(switch) for part in parts)
    differing = [key for key in differing_keys(its, ours) if key.startswith(COMPARED)]
    keys = [key for key in differing if not key.startswith(added)]
    # An addition that is off or empty is not a difference: BALROG lacks both the key and the feature.
    keys += [key for key in here if key.startswith(added) and here[key] not in EMPTY]
    if here.get("agent.batch.size") != theirs.get("agent.batch.size"):
        keys.append("agent.batch.low")
    asked = any_asked(run.episodes)
    return [
        Setting(key, _shown(here, key), "none" if key.startswith(added) else _shown(theirs, key))
        for key in sorted(set(keys))
        if not key.startswith((*NO_SETTINGS, *UNSEEN)) and (asked or not key.startswith("model."))
    ]


def complete(
    config: Mapping[str, Any], run: Mapping[str, Any], protocol: Mapping[str, Any]
) -> dict[str, Any]:
    """Add every option of the kinds of game that the run plays, with the run's value or the default."""
    names = list(dict.fromkeys(task.partition("/")[0] for task in run["env"]["tasks"]))
    others = [task.partition("/")[0] for task in protocol["env"]["tasks"]]
    kinds = [kind_of(name) for name in dict.fromkeys([*names, *others])]
    env, played = config["env"], [kind for kind in kinds if kind.name in names]
    first = {name: task.partition("/")[2] for task in reversed(run["env"]["tasks"]) for name in names
             if task.startswith(f"{name}/")}  # fmt: skip
    steps = {
        kind.name: env["max_steps"].get(kind.name) or kind.max_steps(first[kind.name]) for kind in played
    }
    options = {kind.name: resolved_options(kind, env["options"], kinds) for kind in played}
    return {**config, "env": {**env, "max_steps": steps, "options": options}}


def words(run: LoadedRun) -> str:
    """Describe the origin of the texts that the model reads."""
    own = sorted(run.config.get("agent", {}).get("prompts", {}))
    but = f", except for {many(len(own), 'texts')} by the submitter: {', '.join(own)}" if own else ""
    return f"Instructions, lists of actions and prompts are in this project's words{but}."


def card(run: LoadedRun, protocol: Mapping[str, Any], counted: list[str]) -> str:
    """Build the card as a file; `counted` lists environments and tasks with other episode counts."""
    rows = unlike(run, protocol)
    table = [f"| {escaped(key)} | {escaped(here)} | {escaped(theirs)} |" for key, here, theirs in rows]
    lines = [
        "# Harness card",
        "",
        "Differences from BALROG's stock configuration (`+experiment=balrog`).",
        "",
    ]
    if rows:
        lines += ["", "| setting | here | BALROG |", "| --- | --- | --- |", *table, ""]
    else:
        lines += ["No setting differs.", ""]
    lines += [f"- {escaped(said)}" for said in [*counted, words(run), *ALWAYS, *by_kind(run)]]
    return "\n".join([*lines, ""])


def by_kind(run: LoadedRun) -> list[str]:
    """Unavoidable differences of the kinds of game that were played."""
    played = {task.partition("/")[0] for task in run.config["env"]["tasks"]}
    return [said for name in in_order(played) if (said := kind_of(name).sampling.departures)]


def terminal_lines(run: LoadedRun, protocol: Mapping[str, Any]) -> list[str]:
    """Format the card's settings for a terminal."""
    rows = [f"  {key}: {here} (BALROG: {theirs})" for key, here, theirs in unlike(run, protocol)]
    return [f"harness card: {many(len(rows), 'settings')} different from BALROG", *rows, f"  {words(run)}"]


def _shown(values: Mapping[str, Any], key: str) -> str:
    return " ".join(short(values[key]).split()) if key in values else "none"
