"""`balrog-rag knowledge endings FILE...`: under which policy would helpful passages have come in time?"""

import re
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest

if TYPE_CHECKING:
    from balrog_rag.config.schema import Config
    from balrog_rag.studies.endings import LookupPolicy, RecordedSearches

_ALLOWED = ("knowledge=", "knowledge.", "+knowledge.", "~knowledge.", "agent.retrieval.")
_SETTING = re.compile(r"[+~]?[a-z_]+(\.[\w/-]+)*=")
_AGENT = "robust_rag"
"""The agent whose retrieval settings apply by default."""


def endings(options: Namespace) -> int:
    """Measure every requested policy and print the results."""
    from balrog_rag.knowledge.progress import shown_progress
    from balrog_rag.knowledge.saving import read_saving
    from balrog_rag.studies import endings as run
    from balrog_rag.util.paths import data

    whens = _chosen("--when", options.when, run.WHENS)
    queries = _chosen("--query", options.query, run.QUERIES)
    settings = [str(word) for word in options.files if _SETTING.match(str(word))]
    files = [path for path in options.files if str(path) not in settings]
    if not files:
        raise ConfigError("endings: no file given; pass one or more of *.jsonl or *.jsonl.gz")
    config = _config([*settings, *options.settings])
    games = [game for path in files for game in run.read_games(path, options.env)]
    saving = read_saving(options.saving or data("wiki_index") / "saving.yaml")
    found = _searches(config, saving, options.without or ())
    ways = [run.policy_config(config.agent, when, query) for when in whens for query in queries]
    seen = [run.seen(game) for game in games]
    made = []
    with shown_progress("walking through games", len(ways) * len(games)) as walked:
        for way in ways:
            made.append(run.measure(seen, way, found, saving, walked))
            if options.json:
                print(msgspec.json.encode(made[-1]).decode(), flush=True)
    if not options.json:
        _print(made, options.list)
    return 0


def _chosen(option: str, given: Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    for name in given or ():
        if name not in known:
            raise ConfigError(f"{option} {name}: not one of {', '.join(known)}{nearest(name, known)}")
    return given or known


def _config(settings: Sequence[str]) -> "Config":
    from balrog_rag.config.compose import compose

    for word in settings:
        if not word.startswith(_ALLOWED):
            raise ConfigError(f"{word}: not understood; settings are knowledge.KEY= and agent.retrieval.KEY=")
    return compose([f"agent={_AGENT}", *settings])


def _searches(config: "Config", saving: dict[str, list[str]], without: Sequence[str]) -> "RecordedSearches":
    from balrog_rag.knowledge.corpus import load
    from balrog_rag.knowledge.opening import open_searcher
    from balrog_rag.knowledge.passages import Cut
    from balrog_rag.knowledge.saving import check_saving
    from balrog_rag.studies.endings import RecordedSearches

    settings = config.knowledge
    corpus = load(settings.corpus, Cut(settings.tokens, settings.overlap))
    check_saving(saving, corpus.passages, corpus.name)
    return RecordedSearches(open_searcher(settings, corpus, remember=True), without)


def _print(made: Sequence["LookupPolicy"], every: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    first = made[0]
    title = f"{first.games} games, {first.preventable} of them with a preventable end"
    columns = (
        "when",
        "query",
        "at the decision",
        "shown in time",
        "steps with a look-up",
        "tokens a step",
        "false alarms",
        "passages a game",
    )
    table = Table(*columns, title=title)
    for policy in made:
        table.add_row(
            policy.when, policy.query, f"{policy.at_decision} of {policy.preventable}",
            f"{policy.shown_in_time} of {policy.preventable}", f"{policy.looked_up_share:.1%}",
            f"{policy.tokens_a_step:.0f}", f"{policy.false_alarm_share:.1%}", f"{policy.passages_a_game:.1f}",
        )  # fmt: skip
    console = Console(width=max(Console().width, _WIDE))
    console.print(table)
    for policy in made if every else ():
        console.print(_cases(policy))


_WIDE = 110


def _cases(policy: "LookupPolicy") -> object:
    from rich.table import Table
    from rich.text import Text

    from balrog_rag.util.terminal_safe import one_line

    columns = ("end", "class", "at the decision", "steps before", "saving passage")
    table = Table(*columns, title=f"{policy.when}, {policy.query}")
    for case in policy.list:
        before = "never" if case.before_end is None else str(case.before_end)
        decided = ("yes" if case.at_decision else "no") if case.preventable else "-"
        cells = (case.end, case.cause, decided, before if case.preventable else "-", case.saving)
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    return table
