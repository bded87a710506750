"""`balrog-rag dataset`: recorded games in the format of the NetHack Learning Dataset."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.cli.command_line import Parser, called, carried_out, ended, note, within
from balrog_rag.dataset.database import DATABASE
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many, short_number

if TYPE_CHECKING:
    from balrog_rag.dataset.recorded_statistics import Games
    from balrog_rag.results.report.document import Section

_DESCRIPTION = """Recorded games as in the NetHack Learning Dataset: runs with run.ttyrec, NLD-AA, NLD-NAO.
Datasets are registered by name in a database for nle.dataset (--db, ./ttyrecs.db)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every user error is one line with the error's exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: carried_out(_parser(), words))


def _parser() -> ArgumentParser:
    parser = Parser(prog=called("dataset"), description=_DESCRIPTION)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, says: str, carry_out: object) -> ArgumentParser:
        made: ArgumentParser = commands.add_parser(name, help=says, description=says)
        made.add_argument("--db", type=Path, default=DATABASE, help="database (default: ttyrecs.db)")
        made.set_defaults(carry_out=carry_out)
        return made

    record = command("record", "create recordings of a run's episodes from their journals", _record)
    record.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    bring = command("import", "add a folder of recordings to the database", _import)
    bring.add_argument(
        "folder", type=Path, metavar="DIR", help="a run, NLD-AA's nle_data, or NLD-NAO's folder"
    )
    bring.add_argument("--name", help="name of the dataset (default: the folder's name)")
    bring.add_argument("--keep-cut", action="store_true", help="keep truncated recordings")
    command("list", "list the datasets of the database", _list)
    _named(command("info", "show the contents of a dataset", _info))
    move = _named(command("move", "change the folder of a dataset", _move))
    move.add_argument("folder", type=Path, metavar="FOLDER")
    download = command("download", "list or download the published archives", _download)
    download.add_argument("archive", nargs="?", metavar="ARCHIVE", help="nld-aa-taster, nld-aa or nld-nao")
    download.add_argument("--to", type=Path, help="download into this folder; continues a partial download")
    download.add_argument("--site", help="base URL (default: that of its authors)")
    download.add_argument("--unpack", action="store_true", help="also unpack it there")
    stats = command("stats", "print tables of scores, roles, achievements, conducts and deaths", _stats)
    stats.add_argument("names", nargs="+", metavar="NAME", help="datasets, or run folders")
    stats.add_argument("--frames", action="store_true", help="also read every recording and count its frames")
    stats.add_argument("--out", type=Path, metavar="FOLDER", help="also write a page with tables and plots")
    _select_parser(_named(command("select", "select games by their metadata", _select)))
    _stream_parser(_named(command("stream", "read all frames in batches and report the speed", _stream)))
    _frames_parser(_named(command("frames", "print the frames of one game", _frames)))
    return parser


def _stream_parser(stream: ArgumentParser) -> None:
    stream.add_argument("--batch", type=int, default=12, help="parallel games (12)")
    stream.add_argument("--length", type=int, default=512, help="frames per game in a batch (512)")
    stream.add_argument("--threads", type=int, default=2, help="decompression threads (2)")
    stream.add_argument("--seed", type=int, help="shuffle the games with this seed")


def _frames_parser(frames: ArgumentParser) -> None:
    frames.add_argument("game", type=int, metavar="GAMEID", help="number of the game, as listed by `select`")
    frames.add_argument("--from", dest="first", type=int, default=0, help="the first frame (0)")
    frames.add_argument("--to", dest="last", type=int, help="the last frame (default: the game's last)")
    frames.add_argument("--colour", action="store_true", help="with the terminal's colours")


def _named(parser: ArgumentParser) -> ArgumentParser:
    parser.add_argument("name", metavar="NAME", help="a dataset, as listed by `list`")
    return parser


def _select_parser(select: ArgumentParser) -> None:
    for name, says in (
        ("role", "roles by their short names: Val,Sam"), ("race", "races: Hum,Elf"), ("gender", "Mal or Fem"),
        ("align", "Law, Neu, Cha"), ("score", "a range: 1000.., ..50, 10..20"), ("turns", "a range"),
        ("depth", "a range of the deepest level reached"), ("date", "a range of days: 20260101..20261231"),
        ("death", "words in the cause of death"), ("achieved", "words of an achievement: Sokoban"),
        ("sql", "SQL condition on the columns of nle.dataset's table `games`"),
    ):  # fmt: skip
        select.add_argument(f"--{name}", help=says)
    select.add_argument("--as", dest="target", metavar="NEW", help="store the selection as this dataset")
    select.add_argument("--limit", type=int, default=20, help="number of games to list (20)")
    select.add_argument("--json", action="store_true", help="print every game as one line of JSON")


def _record(options: Namespace) -> int:
    _, notes = record_run(options.run)
    return _print_notes(notes)


def record_run(run: Path) -> tuple[Path, list[str]]:
    """Record every episode of a run from its journal; return the database and notes on what was left out."""
    import asyncio

    from balrog_rag.knowledge.progress import shown_progress
    from balrog_rag.results.run_folder import RECORDINGS, journals, locked
    from balrog_rag.run.episode_recordings import database_of, record

    found = journals(run)
    with locked(run), shown_progress("recording", len(found)) as done:
        recorded = [asyncio.run(record(run, journal, done)) for journal in found]
        notes = database_of(run)
    print(f"{sum(recorded)} of {many(len(found), 'episodes')} recorded in {run / RECORDINGS}")
    return run / RECORDINGS / DATABASE, notes


def _print_notes(notes: Sequence[str]) -> int:
    for line in notes:
        note(line)
    return 0


def _import(options: Namespace) -> int:
    from balrog_rag.dataset.importing import import_folder

    done = import_folder(options.folder, options.db, options.name, options.keep_cut)
    print(f"{terminal_safe(done.name)}: {many(done.games, 'games')} in {options.db}")
    return _print_notes(done.notes)


def _list(options: Namespace) -> int:
    from balrog_rag.dataset.database import datasets
    from balrog_rag.results.terminal import console, show_table

    rows = [
        [each.name, f"{each.games:,}", f"{short_number(each.size)}B", str(each.version), str(each.root)]
        for each in datasets(options.db)
    ]
    headings = ("dataset", "games", "size", "ttyrec", "folder")
    show_table(console(), str(options.db), headings, rows, (0, 4))
    return 0


def _info(options: Namespace) -> int:
    from balrog_rag.dataset.database import dataset, files

    found = dataset(options.db, options.name)
    parts = [part for game in files(options.db, options.name).values() for part in game]
    missing = sum(not part.is_file() for part in parts)
    print(
        f"{terminal_safe(found.name)}: {many(found.games, 'games')}, {many(len(parts), 'recordings')}, ",
        end="",
    )
    print(f"{short_number(found.size)}B, ttyrec{found.version}")
    holds = {1: "frames alone", 2: "frames and key presses"}.get(found.version, "frames, key presses, scores")
    print(f"folder: {terminal_safe(str(found.root))}; contents: {holds}")
    print(f"missing: {many(missing, 'recordings')}" if missing else "no recording is missing")
    return 0


def _move(options: Namespace) -> int:
    from balrog_rag.dataset.database import move

    move(options.db, options.name, options.folder)
    print(f"{terminal_safe(options.name)}: folder set to {options.folder.resolve()}")
    return 0


def _select(options: Namespace) -> int:
    from balrog_rag.contracts.errors import ConfigError
    from balrog_rag.dataset import selecting
    from balrog_rag.dataset.database import save
    from balrog_rag.results.terminal import console, show_table

    within("--limit", options.limit, 0)
    found = selecting.select(options.db, options.name, vars(options))
    if options.target and not found:
        raise ConfigError(f"--as {options.target}: no game of {options.name} matches; nothing stored")
    if options.json:
        import msgspec

        for row in found:
            print(msgspec.json.encode(row).decode())
    else:
        shown = selecting.columns(found[: options.limit])
        show_table(console(), f"{many(len(found), 'games')}", selecting.HEADINGS, shown, (1, 2, 7))
    if options.target:
        save(options.db, options.target, options.name, [row["gameid"] for row in found])
        print(f"{terminal_safe(options.target)}: {many(len(found), 'games')} in {options.db}")
    return 0


def _stream(options: Namespace) -> int:
    import time

    from balrog_rag.dataset.streaming import stream
    from balrog_rag.knowledge.progress import shown_progress

    for option, least in (("batch", 1), ("length", 1), ("threads", 0)):
        within(f"--{option}", getattr(options, option), least)
    count, games, begun = 0, set[int](), time.perf_counter()
    arguments = (options.db, options.name, options.batch, options.length, options.threads, options.seed)
    with stream(*arguments) as batches, shown_progress("frames", None) as done:
        for batch in batches:
            present = batch["gameids"][batch["gameids"] != 0]
            games.update(present.tolist())
            count += len(present)
            done(len(present))
    seconds = time.perf_counter() - begun
    print(f"{many(len(games), 'games')}, {many(count, 'frames')}, {count / seconds:,.0f} frames a second")
    return 0


def _frames(options: Namespace) -> int:
    from balrog_rag.dataset.streaming import as_text, frames
    from balrog_rag.envs.nethack.screen_signals import key_name

    for number, frame in frames(options.db, options.name, options.game):
        if number < options.first:
            continue
        if options.last is not None and number > options.last:
            break
        pressed = f", pressed {key_name(int(frame['keypresses']))}" if "keypresses" in frame else ""
        score = f", score {int(frame['scores'])}" if "scores" in frame else ""
        print(f"--- frame {number}{pressed}{score}")
        print(as_text(frame, True) if options.colour else terminal_safe(as_text(frame)))
    return 0


def _stats(options: Namespace) -> int:
    from balrog_rag.dataset.recorded_statistics import sections
    from balrog_rag.dataset.sets import of_arms, of_dataset
    from balrog_rag.results.arms import load_arms
    from balrog_rag.results.terminal import console, say, show_table

    screen = console()
    sets = []
    for name in options.names:
        if (Path(name) / "config.json").is_file():
            sets += of_arms(load_arms([Path(name)], partial=True))
        else:
            sets.append(of_dataset(options.db, name, options.frames))
    made = sections(sets)
    for section in made:
        for table in section.tables:
            show_table(screen, section.title, table.headings, [list(map(str, row)) for row in table.rows])
            if table.note:
                say(screen, table.note)
    if options.out is not None:
        _write_page(made, sets, options.out)
    return 0


def _write_page(sections: "list[Section]", sets: "list[Games]", out: Path) -> None:
    """Write tables and box plots as one HTML page, and each figure as a file."""
    from balrog_rag.dataset.box_plots import figures
    from balrog_rag.results import run_folder
    from balrog_rag.results.report.document import ReportPage
    from balrog_rag.results.report.figures import saved
    from balrog_rag.results.report.html import html
    from balrog_rag.results.report.write import encode, write_figures

    drawn = figures(sets)
    write_figures({name: encode(figure, ["png"]) for name, figure in drawn.items()}, out, ["png"])
    svgs = {name: saved(figure, "svg") for name, figure in drawn.items()}
    page = ReportPage(", ".join(games.name for games in sets), sections)
    run_folder.write_bytes(out / "games.html", html(page, svgs).encode("utf-8", "replace"))
    print(f"page: {out / 'games.html'}")


def _download(options: Namespace) -> int:
    from balrog_rag.contracts.errors import ConfigError
    from balrog_rag.contracts.registry import nearest
    from balrog_rag.dataset.fetching import ARCHIVES, SITE, fetch, unpack
    from balrog_rag.knowledge.progress import shown_progress

    if options.archive is None or options.to is None:
        for name, archive in ARCHIVES.items():
            print(f"{name:<14} {archive.size:>8} in {many(len(archive.files), 'files')}: {archive.holds}")
            print(f"{'':<14} {SITE}/{name}/{archive.files[0]}{' ...' if len(archive.files) > 1 else ''}")
        print("balrog-rag dataset download NAME --to FOLDER --unpack gets one; then: dataset import FOLDER")
        return 0
    if options.archive not in ARCHIVES:
        raise ConfigError(f"{options.archive}: no such archive{nearest(options.archive, ARCHIVES)}")
    files = fetch(options.archive, options.to, shown_progress, options.site or SITE)
    if options.unpack:
        unpack(files, options.to)
    print(f"{options.archive}: {many(len(files), 'files')} in {options.to}, all complete")
    return 0
