"""The commands of the studies; their dependencies are imported when one of them runs."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.contracts.commands import Command
from balrog_rag.util.option_parser import Parser

_ENDINGS = """Replays the last steps of finished games with the retrieval wrapper of agents, without a
model, and counts in how many preventable ends a passage that helps was shown at least 5 steps before.

Each line of a file has file, end, cause and last: a list of step, action and observation.
Settings: knowledge.KEY=VALUE and agent.retrieval.KEY=VALUE."""


def endings_parser() -> ArgumentParser:
    """The options of `knowledge endings`."""
    parser = Parser(prog="balrog-rag knowledge endings", description=_ENDINGS)
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="*.jsonl or *.jsonl.gz files of endings"
    )
    parser.add_argument("--when", action="append", help="look-up policy; repeatable (all)")
    parser.add_argument("--query", action="append", help="query method; repeatable (all)")
    parser.add_argument("--saving", type=Path, help="helpful passages by class (wiki_index/saving.yaml)")
    parser.add_argument("--without", action="append", metavar="IDS", help="exclude passages by id prefix")
    parser.add_argument("--env", default="nle", help="kind of game, if a line does not name it (nle)")
    parser.add_argument("--json", action="store_true", help="one JSON object per policy")
    parser.add_argument("--list", action="store_true", help="print every game")
    return _with_settings(parser)


_QUESTIONS = """Puts the yes/no questions of finished games to a model: without a passage, with one that the
search finds for the question, and with one that it found for another. Counts right answers, which follow from
the game's rules.

  balrog-rag knowledge questions FILE... --model local
  balrog-rag knowledge questions FILE... --model openai model.name=openai/gpt-5.4

Settings: model.KEY=VALUE and knowledge.KEY=VALUE."""


def questions_parser() -> ArgumentParser:
    """The options of `knowledge questions`."""
    parser = Parser(
        prog="balrog-rag knowledge questions",
        description=_QUESTIONS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="*.jsonl or *.jsonl.gz files of endings"
    )
    parser.add_argument("--model", default="local", help="one of conf/model (local)")
    parser.add_argument("--env", default="nle", help="kind of game, if a line does not name it (nle)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return _with_settings(parser)


def judge_parser() -> ArgumentParser:
    """The options of `knowledge judge`."""
    from balrog_rag.studies.judge_command import add_options

    parser = Parser(prog="balrog-rag knowledge judge", formatter_class=RawDescriptionHelpFormatter)
    add_options(parser)
    return _with_settings(parser)


def gate_parser() -> ArgumentParser:
    """The options of `knowledge gate`."""
    parser = Parser(prog="balrog-rag knowledge gate")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    fit = actions.add_parser("fit", help="fit to the steps that `counterfactual` sampled")
    fit.add_argument("run", type=Path, metavar="RUN", help="run folder with a counterfactual.json")
    fit.add_argument(
        "--worth", type=float, metavar="TOKENS", help="value of a changed action (default: 2 look-ups)"
    )
    fit.add_argument("--json", action="store_true", help="print JSON")
    _with_settings(fit)
    return parser


def _with_settings(parser: ArgumentParser) -> ArgumentParser:
    parser.add_argument(
        "settings", nargs="*", default=[], metavar="knowledge.KEY=VALUE", help="settings, as for a run"
    )
    return parser


def _parsed(parser: ArgumentParser, words: Sequence[str]) -> Namespace:
    options, rest = parser.parse_known_args(words)  # settings may be mixed with options
    options.settings = [*options.settings, *rest]
    return options


def _endings(words: list[str]) -> int:
    from balrog_rag.studies.endings_command import endings

    return endings(_parsed(endings_parser(), words))


def _questions(words: list[str]) -> int:
    from balrog_rag.studies.questions_command import questions

    return questions(_parsed(questions_parser(), words))


def _judge(words: list[str]) -> int:
    from balrog_rag.studies.judge_command import judge

    return judge(_parsed(judge_parser(), words))


def _gate(words: list[str]) -> int:
    import msgspec

    from balrog_rag.contracts.errors import ConfigError
    from balrog_rag.studies.lookup_gate import fit

    options = _parsed(gate_parser(), words)
    if options.worth is not None and not 0 < options.worth < float("inf"):
        raise ConfigError(f"--worth {options.worth:g}: must be greater than 0 (tokens)")
    made = fit(options.run, options.worth)
    print(msgspec.json.encode(made).decode() if options.json else made.summary)
    return 0


ENDINGS = Command(name="knowledge endings", help="could retrieval have prevented these ends?", run=_endings)
JUDGE = Command(name="knowledge judge", help="judge passages against logged queries", run=_judge)
GATE = Command(name="knowledge gate", help="learn when look-ups pay off", run=_gate)
QUESTIONS = Command(
    name="knowledge questions", help="does a passage change a model's answer?", run=_questions
)
