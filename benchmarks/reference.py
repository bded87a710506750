"""Reference journals: players without a model in all environments, and the embedded model, as one archive.

    make reference        # or: python -m benchmarks.reference --games 1 --out reference

writes a run folder per player and environment, verifies each by replay, and packs them with their
certificates into reference.tar.xz. Whoever plays the same configuration with the same versions gets journals
that are equal but for clock readings. A player is not run in an environment that it never plays; what this
machine lacks, such as TextWorld, is left out. Both are named, and why, on the terminal and in index.json.
"""

import argparse
import io
import json
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path

import balrog_rag
from balrog_rag import agents
from balrog_rag.cli.verification import verified_folder
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.results import run_folder
from balrog_rag.results.leaderboard.certificate import journal_digest, write_certificate
from balrog_rag.results.leaderboard.seed_rules import SeedRule
from balrog_rag.util.wording import many

ENVIRONMENTS = (
    *("nethack", "minihack", "babyai", "babaisai", "crafter", "textworld"),
    *("nethackers", "netplay_scenarios", "decisions"),
)
PLAYERS = ("dummy", "random", "handcrafted", "delver", "minihacker", "best")
MODEL_STEPS = 10
"""Steps of each game with the embedded model, which takes seconds for an answer."""
MOST_BYTES = 50_000_000
LEFT_OUT = {".episodes", ".lock", ".made_here"}
"""Files of a run folder that are of one machine."""


def runs(games: int, steps: int | None) -> Iterator[tuple[str, list[str]]]:
    """The name and the overrides of every run."""
    caps = [f"env.episodes={games}", "run.seed=0", *([f"limits.steps={steps}"] if steps else [])]
    for env in ENVIRONMENTS:
        for player in PLAYERS:
            yield f"{player}-{env}", [f"env={env}", f"agent={player}", *caps]
    for env in ENVIRONMENTS[:6]:
        yield (
            f"embedded-model-{env}",
            [f"env={env}", "agent=naive_append", "model=local", *caps[:2], f"limits.steps={MODEL_STEPS}"],
        )


def never_plays(words: list[str]) -> str:
    """Return why the player of a run plays its environment on no machine; empty if it can."""
    config = compose(words)
    named = (task.partition("/") for task in config.env.tasks)
    games = {env: GameSpec(env, task, Seeds(0, 0)) for env, _, task in named}
    return next((why for game in games.values() if (why := agents.refusal(config.agent.name, game))), "")


def played(name: str, words: list[str], out: Path) -> str:
    """Play a run, or finish one that exists; returns what this machine lacks for it, or nothing."""
    folder = out / name
    try:
        if (folder / "config.json").exists():
            run = balrog_rag.evaluate(f"resume={folder}", "runner.log=none")
        else:
            run = balrog_rag.evaluate(*words, "runner.log=none", "run.csv=false", folder=folder)
    except BalrogError as error:
        if "env=minihack" in words and "levels are not on this machine" in str(error):
            return played(name, ["env=minihack_six", *words[1:]], out)  # the tasks that need no levels
        return str(error)
    if not run.complete:
        raise SystemExit(f"{folder}: {'; '.join(run.troubles)}; run this again to continue")
    return ""


def file_digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of every journal in a run folder."""
    return {str(path.relative_to(folder)): journal_digest(path) for path in run_folder.journals(folder)}


def packed(out: Path, archive: Path) -> None:
    """Write everything into an archive, without owners and times, so that equal files make equal archives."""
    with lzma.open(archive, "wb", preset=6) as compressed, tarfile.open(fileobj=compressed, mode="w") as tar:
        for path in sorted(path for path in out.rglob("*") if path.is_file() and path.name not in LEFT_OUT):
            entry = tarfile.TarInfo(f"{out.name}/{path.relative_to(out)}")
            data = path.read_bytes()
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


def main() -> int:
    options = arguments()
    out: Path = options.out
    never: dict[str, str] = {}
    lacking: dict[str, str] = {}
    index: dict[str, dict[str, str]] = {}
    for name, words in runs(options.games, options.steps):
        if options.only and not any(part in name for part in options.only):
            continue
        if why := never_plays(words):
            never[name] = why
            print(f"not a player of this environment: {name}: {why}", flush=True)
            continue
        if why := played(name, words, out):
            lacking[name] = why
            print(f"missing on this machine: {name}: {why}", flush=True)
            continue
        found = verified_folder(out / name, SeedRule(), again=False)
        if found.wrong or found.certificate is None:
            print(f"error: {name}: {found.wrong}", flush=True)
            return 1
        write_certificate(found.certificate, out / "certificates")
        index[name] = file_digests(out / name)
    content = {"runs": index, "never played": never, "missing on this machine": lacking}
    run_folder.write_bytes(out / "index.json", json.dumps(content, indent=2).encode())
    archive = out.with_suffix(".tar.xz")
    packed(out, archive)
    size, journals = archive.stat().st_size, sum(map(len, index.values()))
    print(f"{archive}: {many(len(index), 'runs')}, {many(journals, 'journals')}, {size:,} bytes")
    print(f"{many(len(never), 'runs')} of players that never play the environment")
    print(f"{many(len(lacking), 'runs')} left out, since this machine lacks what the environment needs")
    return 0 if size <= MOST_BYTES and index else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="play, verify and pack reference journals")
    parser.add_argument("--games", type=int, default=1, help="games of each task (default: 1)")
    parser.add_argument("--steps", type=int, help="most steps of a game (default: the games' own limits)")
    parser.add_argument("--out", type=Path, default=Path("reference"), help="folder (default: %(default)s)")
    parser.add_argument("--only", nargs="*", help="only runs whose names contain one of these")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
