"""A run of up to a million episodes: what reading it back costs in time, memory and files.

    PYTHONPATH=. python benchmarks/million.py --episodes 100000 --pack 10000 [--records 1000000]

Writes journals as an agent without retrieval writes them, then runs each command in a process of its own.
`--records`: rows without journals on top of that, copies of the others under other names, so that a million
episodes can be read without writing 6 GB of journals. `compare` takes a run of a tenth of its size beside it.
The leaderboard and `results rebuild` read every journal, so they are measured without `--records`.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import NamedTuple

import msgspec

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest, plain
from balrog_rag.config.schema import Config
from balrog_rag.contracts.data import GameSpec, Reply, Usage
from balrog_rag.episode import chain, journal
from balrog_rag.episode.journal import Completion, End, Header, Start, Step
from balrog_rag.episode.packs import every_journal, index_line
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec, episode_name
from balrog_rag.results import run_folder
from balrog_rag.results.episode_columns import packed
from balrog_rag.results.episode_index import read_index, write_index
from balrog_rag.results.run_seal import mark_new
from balrog_rag.results.runs import load
from balrog_rag.run.journal_packer import JournalPacker
from balrog_rag.run.plan import game_of, kinds_of, seeds_for, tasks_in
from balrog_rag.run.services import player_of

NUMBERS = {
    "x": 49, "y": 18, "hp": 15, "max_hp": 15, "depth": 1, "branch": 0, "level": 1, "experience_level": 1,
    "experience": 0, "turn": 1, "score": 0, "gold": 0, "energy": 2, "max_energy": 2, "armor_class": 4,
    "hunger": 1, "encumbrance": 0, "condition": 0, "alignment": 1,
}  # fmt: skip
KEYS = ("north", "east", "south", "west", "far east", "search", "kick", "down")


def config_of(folder: Path, agent: str, episodes: int, more: tuple[str, ...] = ()) -> Config:
    """The configuration of a run of NetHack games."""
    words = [f"agent={agent}", "model=scripted", "env=nethack", f"env.episodes={episodes}", "limits.steps=20"]
    return compose([*words, f"run.folder={folder.parent}", f"run.name={folder.name}", *more])


def specs(config: Config, player: PlayerSpec, first: int, count: int) -> Iterator[EpisodeSpec]:
    """The specs of some of its episodes."""
    (task,) = tasks_in(config)
    game = game_of(config, task, kinds_of([task]), 0)
    for number in range(first, first + count):
        own = msgspec.structs.replace(game, seeds=seeds_for(config, task, number))
        yield EpisodeSpec(episode_name(task.qualified, number), own, player, config.limits.steps)


def journal_bytes(spec: EpisodeSpec, digest: str, steps: int) -> bytes:
    """A journal of one episode."""
    rng = random.Random(spec.episode)
    entries: list[journal.Entry] = [
        Header(journal.VERSION, spec, spec.digest, digest, {"balrog_rag": "0.2.0", "nle": "1.3.0"}),
        Start(f"{rng.getrandbits(128):032x}", NUMBERS),
    ]
    for n in range(steps):
        usage = Usage(1980 + 220 * n, 3)
        act = rng.choice(KEYS)
        reply = Reply(act, usage=usage, cost=usage.input * 2e-7, latency=rng.random(), model="scripted")
        entries.append(Completion(n, "act", f"{rng.getrandbits(128):032x}", reply))
        moved = {"turn": 2 + n, "x": rng.randrange(80)}
        if rng.random() < 0.05:
            moved["depth"] = 2 + n % 4
        entries.append(
            Step(n, act, act, f"{rng.getrandbits(128):032x}", numbers=moved, notes={"read": "strict"})
        )
    died = rng.random() < 0.6
    facts = {"death": f"killed by a {rng.choice(('newt', 'jackal', 'gnome lord', 'dwarf'))}"} if died else {}
    entries.append(End("died" if died else "steps", steps, facts, seconds=rng.random()))
    link, lines = chain.START, []
    for entry in entries:
        line, link = chain.chained_line(link, journal.encode(entry))
        lines.append(line)
    return b"".join(lines)


def write_run(run: Path, agent: str, episodes: int, steps: int, pack: int, records: int) -> None:
    """Write a run folder with these episodes, and rows of its index for `records` in all."""
    config = config_of(run, agent, max(episodes, records), (f"run.pack={pack}",) if pack else ())
    frozen = plain(config)
    run_folder.create(run, frozen)
    mark_new(run, run_folder.CONFIG)
    digest, player = config_digest(frozen), player_of(config)
    packer = JournalPacker(run, pack, sync=False) if pack else None
    for spec in specs(config, player, 0, episodes):
        path = run_folder.journal_path(run, spec.episode)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(journal_bytes(spec, digest, steps))
        if packer is not None:
            packer.add(path)
    if records > episodes:
        add_rows(run, config, player, records, pack)


def add_rows(run: Path, config: Config, player: PlayerSpec, records: int, pack: int) -> None:
    """Add packs without content, and rows of the index that copy the first pack's under other names."""
    load(run)
    known = read_index(run, run_folder.frozen_config(run).digest, 1 << 32)
    segments, first = list(known.values()), known["000001.jsonl"]
    places = every_journal(run / "packed" / first.source)
    while (count := sum(segment.ended for segment in segments)) < records:
        path = run / "packed" / f"{len(segments):06d}.jsonl"
        with open(path, "wb") as file:
            file.truncate(first.size)  # a sparse file: it takes no space
        made = list(specs(config, player, count, first.ended))
        named = zip(places, made, strict=True)
        lines = [index_line(at._replace(episode=spec.episode, spec=spec.digest)) for at, spec in named]
        path.with_suffix(".index").write_bytes(b"".join(lines))
        columns = dict(first.columns)
        for field, of, values in (
            ("name", str, [spec.episode for spec in made]),
            ("game", GameSpec, [spec.game for spec in made]),
            ("spec_digest", str, [spec.digest for spec in made]),
        ):
            columns[field] = memoryview(
                packed(values, of, {"name": "names", "game": "games"}.get(field, "blocks"))
            )
        status = path.stat()
        segments.append(
            msgspec.structs.replace(
                first, source=path.name, size=status.st_size, time=status.st_mtime_ns, columns=columns
            )
        )
    write_index(run, run_folder.frozen_config(run).digest, segments)


READERS = {
    "list of the viewer's server": "from balrog_rag.viewer.episode_library import Library; "
    "print(len(Library([RUN]).rows()), 'bytes')",
    "load(RUN), names and scores": "import balrog_rag.results.runs as r; found = r.load(RUN).episodes; "
    "print(len(found), sum(each.progression for each in found))",
    "data frame, balrog_rag.load(RUN)": "import balrog_rag; print(balrog_rag.load(RUN).shape)",
    "report": "from balrog_rag.cli.report import main; main([str(RUN), '--out', str(RUN.parent / 'report')])",
    "compare with a tenth of its size": "from balrog_rag.cli.compare import main; "
    "main([str(RUN), str(RUN.parent / 'other')])",
    "leaderboard": "from balrog_rag.cli.leaderboard import main; "
    "main(['build', str(RUN), '--out', str(RUN.parent / 'board')])",
    "results rebuild": "from balrog_rag.cli.results import main; main(['rebuild', str(RUN)])",
    "resume, nothing left to play": "from balrog_rag.cli.main import main; "
    "main([f'resume={RUN}', 'runner.log=none'])",
}


GOALS = {"list": (2.0, 0), "report": (60.0, 2_000)}
"""Wall seconds and MB for a million episodes, by the first word of what is measured."""


class Measured(NamedTuple):
    """What one command cost."""

    wall: float
    processor: float
    """Seconds of processor time, of all processes."""
    memory: float
    """Peak MB of the largest process."""
    said: str
    """The last line that it printed."""


def measured(code: str, run: Path) -> Measured:
    """Run this code in a process of its own."""
    script = (
        "import resource, pathlib\n"
        f"RUN = pathlib.Path({str(run)!r})\n"
        f"{code}\n"
        "used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]\n"
        "print(); print(max(each.ru_maxrss for each in used) / 1e6 * 1024)\n"
        "print(sum(each.ru_utime + each.ru_stime for each in used))"
    )
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        return Measured(seconds, nan, nan, done.stderr.strip().splitlines()[-1])
    *said, memory, processor = done.stdout.strip().splitlines()
    last = next((line for line in reversed(said) if line.strip()), "")
    return Measured(seconds, float(processor), float(memory), last)


def table_row(name: str, found: Measured) -> str:
    """One row of the table that `main` prints."""
    wall, memory = GOALS.get(name.split()[0].strip(","), (0.0, 0))
    goals = [f"{wall:g} s" * bool(wall), f"{memory:,} MB" * bool(memory)]
    goal = ", ".join(filter(None, goals))
    cells = f"{found.wall:,.1f}", f"{found.processor:,.1f}", f"{found.memory:,.0f}", goal, found.said[:60]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Write the run, read it back in every way, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000, help="with journals")
    parser.add_argument("--records", type=int, default=0, help="rows in all; needs --pack")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--pack", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(READERS), help="first words of what to measure")
    parser.add_argument("--folder", type=Path, help="keep the run here, or use the one that is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        run = (options.folder or Path(place)) / "run"
        if not run.exists():
            began = time.perf_counter()
            write_run(run, "naive", options.episodes, options.steps, options.pack, options.records)
            smaller = options.episodes // 10, options.steps, options.pack, options.records // 10
            write_run(run.parent / "other", "cot", *smaller)
            print(f"written in {time.perf_counter() - began:.0f} s")
        files = [path.stat() for path in run.rglob("*") if path.is_file()]
        size = sum(each.st_blocks * 512 for each in files)
        print(
            f"{options.episodes:,} journals of {options.steps} steps: {len(files):,} files, "
            f"{size / 1e6:,.0f} MB\n"
        )
        print("| what | wall, s | processor, s | memory, MB | goal for a million | |\n" + "| --- " * 6 + "|")
        for name, code in READERS.items():
            if any(name.startswith(word) for word in options.only):
                print(table_row(name, measured(code, run)), flush=True)


if __name__ == "__main__":
    main()
