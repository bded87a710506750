"""Sections after the verdict: other protocols, costs, ends, retrieval."""

from collections.abc import Sequence

from balrog_rag.contracts.kinds import EnvironmentKind, kind_of
from balrog_rag.results.arms import Arm, in_order
from balrog_rag.results.asked_again import kept
from balrog_rag.results.breakdown import (
    RetrievalShare,
    calls_by_purpose,
    cause_counts,
    killer_counts,
    never_searched,
    outcome_counts,
    preventable_against,
    retrieval_share,
)
from balrog_rag.results.comparing import comparable
from balrog_rag.results.episodes import Calls, Episode
from balrog_rag.results.leaderboard.others import rules_table, sources_of
from balrog_rag.results.report.document import Cell, Section, Table
from balrog_rag.results.terminal_tables import counted, dollars_of, tokens_of
from balrog_rag.util.wording import many, short_number

MOST_KILLERS = 12
ENDS = ("arm", "n", "ended by", "killed by", "class of end")

COSTS = (
    "arm",
    "calls for",
    "calls",
    "tokens",
    "cached",
    "reasoning",
    "dollars",
    "seconds",
    "repeated / empty / cut / trimmed",
)
COST_NOTE = (
    "A dollar figure with +? excludes calls of unknown price. Seconds are time spent waiting for "
    "answers, in 'all' also for searches; journals do not record the time of games and queues. "
    "Repeated: attempts after the first; cut: answers cut at the token limit; trimmed: prompts that lost "
    "old turns."
)
SHARES = (
    "arm",
    "searches",
    "steps with one",
    "hit",
    "new query",
    "steps with reference text",
    "of calls",
    "of tokens",
    "of dollars",
    "results of look-ups",
)
SHARE_NOTE = (
    "Shares of calls, tokens and dollars count the calls made for retrieval alone: those that write queries, "
    "summarise or rerank, and if a model requested a look-up instead of acting, its second call of that "
    "step. They exclude embedding and the tokens that reference text adds to other calls."
)


def protocol_section(arms: Sequence[Arm]) -> Section:
    """Each kind of game in the measures of other protocols."""
    kinds = [kind_of(env) for env in in_order({env for arm in arms for env in arm.by_env()})]
    tables = [_rules_table(kind, arms) for kind in kinds if kind.scoring.rules]
    apart = [(kind.name, rules) for kind in kinds for rules in kind.scoring.rules if rules.apart]
    tables += [rules_table(arms, env, rules) for env, rules in apart]
    named = dict.fromkeys(where for _, rules in apart for where in sources_of(rules))
    return Section("Other protocols", [f"† {where}." for where in named], tables)


def _rules_table(kind: EnvironmentKind, arms: Sequence[Arm]) -> Table:
    headings = ["arm", *[heading for rules in kind.scoring.rules for heading in rules.headings]]
    rows: list[list[Cell]] = [
        [arm.name, *[cell for rules in kind.scoring.rules for cell in rules.figures(runs)]]
        for arm in arms
        if any(runs := _of_kind(arm, kind))
    ]
    return Table(headings, rows, " ".join(rules.note for rules in kind.scoring.rules))


def _of_kind(arm: Arm, kind: EnvironmentKind) -> list[Sequence[Episode]]:
    return [run.by_env().get(kind.name, []) for run in arm.runs]


def cost_section(arms: Sequence[Arm]) -> Section:
    """Costs by purpose of the call, and their sum if there are several purposes."""
    rows: list[list[Cell]] = []
    for arm in arms:
        purposes = calls_by_purpose(arm.episodes)
        if len(purposes) > 1:
            whole = Calls()
            for calls in purposes.values():
                whole.add(calls)
            seconds = sum(arm.episodes.arrays.seconds.tolist())
            rows.append([arm.name, "all", *_call_cells(whole)[:-2], f"{seconds:,.0f}", _faults(whole)])
        rows += [[arm.name, purpose, *_call_cells(calls)] for purpose, calls in purposes.items()]
    return Section("Costs", tables=[Table(list(COSTS), rows, COST_NOTE)] if rows else [])


def _call_cells(calls: Calls) -> list[Cell]:
    return [
        f"{calls.count:,}",
        tokens_of(calls),
        short_number(calls.cached) if calls.cached else "",
        short_number(calls.reasoning) if calls.reasoning else "",
        dollars_of(calls),
        f"{calls.seconds:,.0f}",
        _faults(calls),
    ]


def _faults(calls: Calls) -> str:
    counts = (calls.repeats, calls.empty, calls.cut, calls.trimmed)
    return " / ".join(map(str, counts)) if any(counts) else ""


def ends_section(arms: Sequence[Arm], baseline: Arm, figures: list[str]) -> Section:
    """How episodes ended, causes of death, and the share of preventable ends."""
    rows: list[list[Cell]] = [
        [
            arm.name,
            f"{len(arm.episodes):,}",
            counted(outcome_counts(arm.episodes)),
            _listed(killer_counts(arm.episodes)),
            _listed(cause_counts(arm.episodes)),
        ]
        for arm in arms
        if arm.episodes
    ]
    others = [arm for arm in arms if arm is not baseline]
    sentences = [sentence for arm in others if (sentence := preventable_sentence(arm, baseline))]
    tables = [Table(list(ENDS), rows)] if rows else []
    return Section("How episodes ended", sentences, tables=tables, figures=figures)


def _listed(counts: Sequence[tuple[str, int]]) -> str:
    """Counts as 'jackal 3, newt 1', the most frequent first."""
    said = ", ".join(f"{kind} {count}" for kind, count in counts[:MOST_KILLERS])
    more = len(counts) - MOST_KILLERS
    return f"{said} and {many(more, 'others')}" if more > 0 else said


def preventable_sentence(ours: Arm, theirs: Arm) -> str:
    """Compare the shares of preventable ends of two arms; empty if that is not possible."""
    if ours.withheld or theirs.withheld:
        return ""
    found = preventable_against(*comparable(ours, theirs))
    names = f"{ours.name} against {theirs.name}"
    return f"{names}, preventable ends: {found.sentence}" if found else ""


def retrieval_section(arms: Sequence[Arm], figures: list[str]) -> Section:
    """The use and costs of retrieval."""
    shares = [(arm.name, retrieval_share(arm.episodes)) for arm in arms]
    rows = [_share_row(name, share) for name, share in shares if share]
    asked = [
        f"{run.name}: {found.sentence}" for arm in arms for run in arm.runs if (found := kept(run.folder))
    ]
    warned = [f"{arm.name}: {warning}." for arm in arms if (warning := never_searched(arm.episodes))]
    if not rows:
        return Section("Retrieval", warned)
    return Section("Retrieval", [*warned, *asked], [Table(list(SHARES), rows, SHARE_NOTE)], figures)


def _share_row(name: str, share: RetrievalShare) -> list[Cell]:
    parts = (share.asked, share.hit, share.different, share.used, share.call_share, share.token_share)
    return [
        name,
        f"{share.lookups.count:,}",
        *[f"{part:.0%}" for part in parts],
        _dollars(share),
        ", ".join(f"{word} {count}" for word, count in sorted(share.lookups.ends.items())),
    ]


def _dollars(share: RetrievalShare) -> str:
    if share.dollar_share is None:
        return "free" if share.free else "unknown"
    return f"{share.dollar_share:.0%}"
