"""The commands of `balrog-rag knowledge`."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import Parser, called, ended, without_command
from balrog_rag.cli.registered_commands import carry_out, listed, registered

if TYPE_CHECKING:
    from balrog_rag.config.schema import KnowledgeConfig
    from balrog_rag.knowledge.passages import Cut

_DESCRIPTION = """The knowledge base: corpora, indexes, search.

Settings are given as for a run: knowledge=OPTION selects a file of conf/knowledge, knowledge.KEY=VALUE
changes one key, e.g. knowledge.corpus=embedded knowledge.index=bm25."""

_EXAMPLES = """examples:
  balrog-rag knowledge search "dip a dagger in a fountain?"
  balrog-rag knowledge search "floating eye" --json knowledge.index=flat_ip
  balrog-rag knowledge index build knowledge.corpus=notes/ knowledge.folder=my_index
  balrog-rag knowledge eval --split dev
  balrog-rag knowledge serve --port 8321"""


STOPPED = "stopped; the unfinished build was discarded, existing files are unchanged"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every user error is one line with the error's exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: run(words), STOPPED)


def run(arguments: list[str]) -> int:
    """Parse and run one command."""
    if arguments and registered(name := f"knowledge {arguments[0]}"):
        return carry_out(name, arguments[1:])
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if any(word.startswith("-") for word in rest):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if "carry_out" not in options:
        return without_command(parser)
    options.settings = [*options.settings, *rest]  # settings may be mixed with options
    code: int = options.carry_out(options)
    return code


def _parser() -> ArgumentParser:
    parser = Parser(
        prog=called("knowledge"),
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _corpus_parser(commands.add_parser("corpus", help="build, fetch or import a corpus"))
    _index_parser(commands.add_parser("index", help="build an index"))
    search = commands.add_parser("search", help="search the knowledge base")
    search.add_argument("query", help="query; - reads it from standard input")
    search.add_argument("-k", type=int, default=5, help="number of passages (5)")
    search.add_argument("--json", action="store_true", help="print JSON")
    search.add_argument("--full", action="store_true", help="print whole passages")
    _with_settings(search, _search)
    evaluate = commands.add_parser("eval", help="run the search regression test on wiki_index/queries.jsonl")
    evaluate.add_argument(
        "--split", choices=("dev", "test", "all"), default="test", help="which queries to use (test)"
    )
    evaluate.add_argument(
        "--queries", type=Path, help="another file of queries, or a folder in BEIR's layout"
    )
    evaluate.add_argument(
        "--export",
        type=Path,
        metavar="FOLDER",
        help="write corpus, queries, judgements and runs for BEIR and TREC tools",
    )
    evaluate.add_argument("--index", action="append", help="index to measure; repeatable (all)")
    evaluate.add_argument("--plot", type=Path, help="write a plot to this .png or .svg")
    evaluate.add_argument("--json", action="store_true", help="print JSON")
    evaluate.add_argument(
        "--misses", action="store_true", help="list queries without an answer in the top five"
    )
    _with_settings(evaluate, _evaluate)
    serve = commands.add_parser("serve", help="serve the search over HTTP on loopback")
    serve.add_argument("--host", default="127.0.0.1", help="address (127.0.0.1)")
    serve.add_argument("--port", type=int, default=8321, help="port (8321; 0: a free one)")
    _with_settings(serve, _serve)
    for name, says in listed(under="knowledge").items():  # only for the help: `run` passes them on
        commands.add_parser(name, help=says)
    return parser


def _corpus_parser(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="build the embedded corpus from installed packages")
    build.add_argument("name", choices=("embedded",))
    build.add_argument("--guidebook", type=Path, help="Guidebook.txt.gz of Debian's nethack-common")
    _with_settings(build, _build_corpus)
    check = actions.add_parser("check", help="count how the guide's entries were checked")
    check.add_argument("name", choices=("embedded",))
    check.add_argument("--tag", help="only entries with this tag")
    check.add_argument("--list", action="store_true", help="list entries whose claims were only read")
    check.add_argument(
        "--pairs",
        type=float,
        metavar="LIKENESS",
        help="list alike sentences that state different things, down to this likeness (0.8: about a minute)",
    )
    _with_settings(check, _check_corpus)
    fetch = actions.add_parser("fetch", help="download MiniHack's copy of the wiki and import it")
    fetch.add_argument("name", choices=("minihack",))
    fetch.add_argument(
        "--from",
        dest="address",
        metavar="ADDRESS",
        help="URL or path of the file (default: MiniHack's URL)",
    )
    _with_settings(fetch, _fetch_corpus)
    bring = actions.add_parser(
        "import", help="import a downloaded corpus: minihack, nethackwiki or a plug-in's"
    )
    bring.add_argument("name", help="minihack, nethackwiki, spoilers, nethack_common or a plug-in's")
    bring.add_argument("path", type=Path, help="the downloaded file")
    bring.add_argument("--talk", action="store_true", help="nethackwiki: include discussion pages")
    bring.add_argument("--version", default="", help="nethackwiki: game version that the dump describes")
    _with_settings(bring, _import_corpus)


def _index_parser(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="build the index of these settings")
    _with_settings(build, _build_index)


def _with_settings(parser: ArgumentParser, carry_out: object) -> None:
    parser.add_argument(
        "settings", nargs="*", default=[], metavar="knowledge.KEY=VALUE", help="settings, as for a run"
    )
    parser.set_defaults(carry_out=carry_out)


def _config(options: Namespace) -> "KnowledgeConfig":
    from balrog_rag.knowledge.config_section import compose

    return compose(options.settings)


def _cut(options: Namespace) -> "Cut":
    """How to split pages, as configured; by default MiniHack's pages stay whole, as in the paper."""
    from balrog_rag.knowledge.passages import Cut

    if options.name == "minihack" and not any(word.startswith("knowledge=") for word in options.settings):
        options.settings = ["knowledge=paper", *options.settings]
    config = _config(options)
    return Cut(config.tokens, config.overlap)


def _build_corpus(options: Namespace) -> int:
    from balrog_rag.knowledge.corpus.bringing import build_embedded

    build_embedded(options.guidebook)
    return 0


def _check_corpus(options: Namespace) -> int:
    from balrog_rag.knowledge.guide_check import check

    return check(_config(options), options.tag, options.list, options.pairs)


def _fetch_corpus(options: Namespace) -> int:
    from balrog_rag.knowledge.corpus.bringing import import_corpus
    from balrog_rag.knowledge.corpus.minihack_docs import ADDRESS, fetch

    cut = _cut(options)
    import_corpus("minihack", fetch(options.address or ADDRESS), cut)
    return 0


def _import_corpus(options: Namespace) -> int:
    from balrog_rag.contracts.errors import ConfigError
    from balrog_rag.knowledge.corpus.bringing import import_corpus

    if options.talk and options.name != "nethackwiki":
        raise ConfigError(f"--talk: corpus {options.name} has no discussion pages; remove the option")
    if options.version and options.name != "nethackwiki":
        raise ConfigError(f"--version: corpus {options.name} already contains its version; remove the option")
    given = {"talk": options.talk, "version": options.version}
    import_corpus(options.name, options.path, _cut(options), {k: v for k, v in given.items() if v})
    return 0


def _build_index(options: Namespace) -> int:
    from balrog_rag.knowledge.corpus import load
    from balrog_rag.knowledge.opening import build_index, make_embedder
    from balrog_rag.knowledge.passages import Cut

    config = _config(options)
    corpus = load(config.corpus, Cut(config.tokens, config.overlap))
    place = build_index(config, corpus, make_embedder(config))
    print(place.path)
    return 0


def _search(options: Namespace) -> int:
    from balrog_rag.cli.command_line import within
    from balrog_rag.contracts.errors import ConfigError
    from balrog_rag.knowledge.opening import open_searcher
    from balrog_rag.knowledge.printing import json_results, print_results

    within("-k", options.k, 1)
    config = _config(options)
    query = sys.stdin.read() if options.query == "-" else options.query
    if not query.strip():
        raise ConfigError("search: the query is empty; pass search terms")
    found = open_searcher(config).search([query], options.k)[0]
    covered = config.cover > 0 and config.reranker is None
    if options.json:
        print(json_results(query, found, covered))
    else:
        print_results(found, options.full, covered)
    return 0


def _evaluate(options: Namespace) -> int:
    from balrog_rag.cli.command_line import file_to_write
    from balrog_rag.knowledge.evaluation import evaluate

    if options.plot is not None:
        file_to_write("--plot", options.plot, (".png", ".svg"))
    return evaluate(_config(options), options)


def _serve(options: Namespace) -> int:
    from balrog_rag.cli.command_line import MOST_PORT, within
    from balrog_rag.knowledge.serve import serve

    within("--port", options.port, 0, MOST_PORT)
    return serve(_config(options), options.host, options.port)
