"""`balrog-rag learn`: train players from recorded games."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.cli.command_line import Parser, called, carried_out, ended, folder_to_write, within
from balrog_rag.dataset.database import DATABASE
from balrog_rag.util.shell_commands import command
from balrog_rag.util.terminal_safe import terminal_safe

_EXAMPLES = """examples:
  balrog-rag learn bc bot --out clone --minutes 10
  balrog-rag learn bc --from results/RUN --out distilled
  balrog-rag run agent=checkpoint agent.options.path=clone env.episodes=64"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every user error is one line with the error's exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(
        lambda: carried_out(_parser(), words), "stopped; the same command continues from the last save"
    )


def _parser() -> ArgumentParser:
    parser = Parser(prog=called("learn"), description=__doc__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    says = "behavioural cloning: learn the recorded key presses"
    raw = RawDescriptionHelpFormatter
    bc = commands.add_parser("bc", help=says, description=says, epilog=_EXAMPLES, formatter_class=raw)
    bc.add_argument(
        "name", nargs="?", metavar="DATASET", help="a dataset, as listed by `balrog-rag dataset list`"
    )
    bc.add_argument(
        "--from", dest="run", type=Path, metavar="RUN", help="learn from the episodes of a run instead"
    )
    bc.add_argument(
        "--out", type=Path, required=True, metavar="CKPT", help="checkpoint folder, new or to be continued"
    )
    bc.add_argument("--db", type=Path, default=DATABASE, help="database (default: ttyrecs.db)")
    bc.add_argument("--minutes", type=float, help="stop after this many minutes")
    bc.add_argument("--frames", type=int, help="stop after this many frames")
    bc.add_argument("--seed", type=int, default=0, help="seed of the weights and of the games' order (0)")
    bc.add_argument("--batch", type=int, default=24, help="parallel games (24)")
    bc.add_argument("--length", type=int, default=64, help="frames per game in a batch (64)")
    bc.add_argument("--rate", type=float, default=1e-3, help="learning rate (0.001)")
    bc.add_argument("--threads", type=int, default=2, help="threads for training and decompression (2)")
    bc.set_defaults(carry_out=_clone)
    return parser


def _clone(options: Namespace) -> int:
    from balrog_rag.contracts.errors import ConfigError
    from balrog_rag.util.extras import require

    for option, least in (
        ("batch", 1),
        ("length", 1),
        ("threads", 1),
        ("frames", 1),
        ("minutes", 0),
        ("rate", 0),
    ):
        within(f"--{option}", getattr(options, option), least)
    if (options.name is None) == (options.run is None):
        raise ConfigError("learn bc: pass either a dataset or a run with --from")
    if options.minutes is None and options.frames is None:
        raise ConfigError("learn bc: no limit given; pass --minutes or --frames")
    folder_to_write("--out", options.out)
    for library in ("torch", "safetensors"):
        require(library, "learn", "learn bc")
    return _learnt(options, *_source(options))


def _source(options: Namespace) -> tuple[Path, str]:
    """Return the database and the dataset to learn from; for a run, record its journals first."""
    if options.run is None:
        return options.db, options.name
    from balrog_rag.cli.dataset import record_run
    from balrog_rag.dataset.database import datasets

    database, _ = record_run(options.run)
    return database, datasets(database)[0].name


def _learnt(options: Namespace, database: Path, name: str) -> int:
    from balrog_rag.dataset.learn.cloning import Settings, learn
    from balrog_rag.dataset.learn.curve import Curve
    from balrog_rag.knowledge.progress import shown_progress

    settings = Settings(
        options.seed, options.batch, options.length, options.rate, options.threads, options.frames,
        options.minutes,
    )  # fmt: skip
    with shown_progress("learning, frames", options.frames) as done:
        about = learn(database, name, options.out, settings, done)
    curve = Curve(options.out, about.steps)
    curve.draw(options.out)
    loss, right = curve.last
    print(
        f"{terminal_safe(name)}: {about.frames:,} frames learnt; loss {loss:.3f}, {right:.1%} of keys right"
    )
    print(f"play with it: {command('run', 'agent=checkpoint', f'agent.options.path={options.out}')}")
    return 0
