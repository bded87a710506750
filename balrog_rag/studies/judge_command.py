"""`balrog-rag knowledge judge`: judge passages one by one, by hand in a terminal or by any model.

Every judgement is written as soon as it is made, so an interrupted session can be continued.
"""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from balrog_rag.contracts.errors import ConfigError

if TYPE_CHECKING:
    from balrog_rag.contracts.behaviour import Model
    from balrog_rag.contracts.data import Passage
    from balrog_rag.knowledge.search import Searcher
    from balrog_rag.studies.agreement import Agreement, Kappa
    from balrog_rag.studies.judgements import AnswerScore, Grade, Judgement
    from balrog_rag.studies.query_draws import Drawn

DESCRIPTION = """Draws queries from a log and keeps a judgement of each passage that the search finds.

  balrog-rag knowledge judge LOG.tsv --out mine.jsonl --judge ann       by hand, in this terminal
  balrog-rag knowledge judge --like mine.jsonl --out its.jsonl model=openai model.name=openai/gpt-5.4
  balrog-rag knowledge judge LOG.tsv --sheet sheet.jsonl                what a judge elsewhere reads
  balrog-rag knowledge judge --score mine.jsonl its.jsonl               figures, and how far they agree

The scale:
"""
_KEYS = {"a": "answers", "u": "useful", "n": "no"}
_ASKED = "[a]nswers, [u]seful, [n]o, [q]uit: "
_FOR_MODEL = """You judge whether a passage answers a player's query about NetHack.

{scale}

Query: {query}

Passage: {title}
{text}

Judge this passage alone. Answer with one word: answers, useful or no."""


def add_options(parser: ArgumentParser) -> None:
    """Build the argument parser."""
    from balrog_rag.studies.judgements import SCALE

    parser.description = DESCRIPTION + SCALE
    parser.add_argument("log", nargs="?", type=Path, help="queries: a count, a tab and a query a line")
    parser.add_argument("--out", type=Path, help="file of judgements to write or to continue")
    parser.add_argument(
        "--sheet", type=Path, help="only write the queries and their passages to this file, without grades"
    )
    parser.add_argument("--judge", default="", help="who judges (default: the model's name, or `hand`)")
    parser.add_argument("--count", type=int, default=100, help="queries drawn, half by frequency (100)")
    parser.add_argument("--seed", type=int, default=0, help="which queries are drawn (0)")
    parser.add_argument("--like", type=Path, metavar="FILE", help="the queries of another judge, to compare")
    parser.add_argument("--fresh", action="append", type=Path, metavar="FILE", help="exclude FILE's queries")
    parser.add_argument("--score", nargs="+", type=Path, metavar="FILE", help="figures of judgements")
    parser.add_argument("--json", action="store_true", help="print JSON")


def judge(options: Namespace) -> int:
    """Judge passages, or print the figures of judgements."""
    settings, options.settings = options.settings, []
    if options.log is not None and "=" in str(options.log) and not options.log.exists():
        settings, options.log = [str(options.log), *settings], None
    if options.score:
        return _tell(options.score, options.json)
    if (options.out or options.sheet) is None or (options.log or options.like) is None:
        raise ConfigError(
            "judge: pass a log of queries (or --like FILE) and --out FILE or --sheet FILE; or --score FILE"
        )
    return _judge(options, settings)


def _judge(options: Namespace, settings: Sequence[str]) -> int:
    from balrog_rag import models
    from balrog_rag.config.compose import compose
    from balrog_rag.knowledge.opening import open_searcher
    from balrog_rag.studies.judgements import read_judgements

    by_model = [word for word in settings if word.startswith(("model=", "model."))]
    config = compose([*settings] if by_model else ["model=scripted", *settings])
    drawn = _queries(options)
    searcher = open_searcher(config.knowledge)
    if options.sheet is not None:
        return _sheet(_open(drawn, searcher, ()), options.sheet)
    done = read_judgements(options.out)
    if by_model:
        model = models.build(config.model)
        name = options.judge or model.name
        return asyncio.run(_by_model(model, name, drawn, searcher, done, options.out))
    print(DESCRIPTION.rpartition("\n\n")[2] + _scale(), file=sys.stderr)
    return _by_hand(options.judge or "hand", drawn, searcher, done, options.out, sys.stdin)


def _scale() -> str:
    from balrog_rag.studies.judgements import SCALE

    return SCALE


def _queries(options: Namespace) -> "list[Drawn]":
    from balrog_rag.studies.judgements import by_query, read_judgements
    from balrog_rag.studies.query_draws import Drawn, draw, read_log

    if options.like is not None:
        return [Drawn(query, row[0].how) for query, row in by_query(read_judgements(options.like)).items()]
    passed = [query for path in options.fresh or () for query in by_query(read_judgements(path))]
    return draw(read_log(options.log), options.count, options.seed, passed)


def _open(drawn: "Sequence[Drawn]", searcher: "Searcher", done: "Sequence[Judgement]") -> "list[_Open]":
    """Return what is left to judge: each query with its unjudged passages."""
    from balrog_rag.studies.judgements import TOP

    known = {(each.query, each.rank) for each in done}
    found = ((one, searcher.search([one.query], TOP)[0]) for one in drawn)
    return [
        (one, rank, passage)
        for one, passages in found
        for rank, passage in enumerate(passages, start=1)
        if (one.query, rank) not in known
    ]


_Open = tuple["Drawn", int, "Passage"]


def _by_hand(
    name: str, drawn: "Sequence[Drawn]", searcher: "Searcher", done: "Sequence[Judgement]", out: Path,
    keys: TextIO,
) -> int:  # fmt: skip
    from balrog_rag.util.terminal_safe import terminal_safe

    left = _open(drawn, searcher, done)
    for place, (one, rank, passage) in enumerate(left, start=1):
        print(f"\n{place} of {len(left)}  QUERY: {terminal_safe(one.query)}\n{rank}. {passage.title}")
        print(terminal_safe(passage.text))
        grade = _asked(keys)
        if grade is None:
            print(f"stopped; {len(left) - place + 1} passages are left; run the same command to continue")
            return 0
        _keep(out, one, rank, passage, grade, name)
    return _tell([out], False)


def _asked(keys: TextIO) -> "Grade | None":
    """Ask the judge; None to stop."""
    while True:
        print(_ASKED, end="", flush=True)
        said = keys.readline()
        key = said.strip().lower()[:1]
        if not said or key == "q":
            return None
        if key in _KEYS:
            return _KEYS[key]  # type: ignore[return-value]


async def _by_model(
    model: "Model", name: str, drawn: "Sequence[Drawn]", searcher: "Searcher", done: "Sequence[Judgement]",
    out: Path,
) -> int:  # fmt: skip
    from balrog_rag.contracts.data import AnswerFormat, Message, Request
    from balrog_rag.studies.judgements import GRADES

    unread = 0
    try:
        for one, rank, passage in _open(drawn, searcher, done):
            words = _FOR_MODEL.format(scale=_scale(), query=one.query, title=passage.title, text=passage.text)
            reply = await model.complete(Request((Message("user", words),), "other", AnswerFormat(GRADES)))
            grade = grade_in(reply.text)
            if grade is None:
                unread += 1
                continue
            _keep(out, one, rank, passage, grade, name)
    finally:
        await model.close()
    if unread:
        print(f"note: {unread} answers had no grade; run the same command to ask them again")
    return _tell([out], False)


def grade_in(text: str) -> "Grade | None":
    """Return the grade in an answer: its last one, since reasoning comes first."""
    from balrog_rag.studies.judgements import GRADES

    words = [word.strip(".,:;*\"'`()").lower() for word in text.split()]
    found = [word for word in words if word in GRADES]
    return found[-1] if found else None


def _sheet(open_ones: "Sequence[_Open]", path: Path) -> int:
    """Write one line per passage: its text, and a judgement's fields except grade and judge."""
    from balrog_rag.studies.judgements import judgement

    lines = []
    for one, rank, passage in open_ones:
        made = judgement(one.query, one.how, rank, passage, "no", "")
        told = {name: getattr(made, name) for name in ("query", "how", "rank", "passage", "said")}
        lines.append(msgspec.json.encode({**told, "title": passage.title, "text": passage.text}) + b"\n")
    path.write_bytes(b"".join(lines))
    print(f"{len(lines)} passages for {len({one.query for one, _, _ in open_ones})} queries: {path}")
    return 0


def _keep(out: Path, one: "Drawn", rank: int, passage: "Passage", grade: "Grade", name: str) -> None:
    from balrog_rag.studies.judgements import judgement

    made = judgement(one.query, one.how, rank, passage, grade, name)
    with out.open("ab") as file:
        file.write(msgspec.json.encode(made) + b"\n")


def _tell(paths: Sequence[Path], as_json: bool) -> int:
    from balrog_rag.studies.agreement import agreement, common
    from balrog_rag.studies.judgements import read_judgements, score

    sets = [each for path in paths for each in _sets(path, read_judgements(path))]
    files = [judged for _, judged in sets]
    apart = [(one, two) for one, two in combinations(files, 2) if one[0].search == two[0].search]
    pairs = [agreement(one, two) for one, two in apart if common(one, two)]
    parts = {name: _parts(judged, score) for name, judged in sets}
    if len(files) > 1 and not _overlap(files):
        parts["together"] = _parts([each for judged in files for each in judged], score)
    if as_json:
        print(msgspec.json.encode({"scores": parts, "agreement": pairs}).decode())
        return 0
    for file, found in parts.items():
        print(file)
        for name, one in found.items():
            print(f"  {name}: {_sentence(one)}")
    for pair in pairs:
        print(_agreed(pair))
    return 0


def _sets(path: Path, judged: "Sequence[Judgement]") -> "Iterator[tuple[str, list[Judgement]]]":
    """Return the judgements of a file, separated by the compared searches."""
    if not judged:
        raise ConfigError(
            f"{path}: the file is empty or missing; pass a file that `knowledge judge --out` wrote"
        )
    for search in dict.fromkeys(each.search for each in judged):
        name = f"{path} ({search})" if search else str(path)
        yield name, [each for each in judged if each.search == search]


def _overlap(files: "Sequence[Sequence[Judgement]]") -> bool:
    """Whether a query occurs in two files, so that it would count twice in a total."""
    queries = [{each.query for each in judged} for judged in files]
    return sum(map(len, queries)) > len(set().union(*queries))


def _agreed(pair: "Agreement") -> str:
    return (
        f"{pair.judges[0]} and {pair.judges[1]}\n"
        f"  passages: the same grade for {pair.same:.0%} of {pair.passages}, kappa {_between(pair.kappa)}, "
        f"weighted {_between(pair.weighted)}\n"
        f"  queries: one verdict on {pair.alike:.0%} of {pair.queries}, kappa {_between(pair.verdicts)}; "
        f"answer@3 {pair.answered[0]:.3f} and {pair.answered[1]:.3f}"
    )


def _between(kappa: "Kappa") -> str:
    return f"{kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f})"


def _parts(
    judged: "Sequence[Judgement]", score: "Callable[[Sequence[Judgement]], AnswerScore]"
) -> "dict[str, AnswerScore]":
    parts = {"all": judged}
    for how in ("frequency", "type"):
        parts[f"drawn by {how}"] = [each for each in judged if each.how == how]
    return {name: score(rows) for name, rows in parts.items() if rows}


def _sentence(one: "AnswerScore") -> str:
    return (
        f"{one.queries} queries, answer@3 {one.answer:.3f} ({one.answer_low:.2f} to {one.answer_high:.2f}), "
        f"useful@3 {one.useful:.3f}, useless passages {one.useless:.0%}"
    )
