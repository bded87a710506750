"""Record, import, stream and learn: figures beside the targets.

    python benchmarks/dataset.py [--games 24] [--imported 1000] [--rounds 3]

Games of the delver, Archeologists who dig down at once, are recorded first. Times are processor time, which a
busy machine changes little; streams are compared by wall-clock time, in turns.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from balrog_rag.bots.nethack.delver import delver
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.dataset.importing import import_folder
from balrog_rag.dataset.streaming import stream
from balrog_rag.envs.nethack.game import NetHackEngine

CHARACTER = "arc-dwa-law-fem"
BATCH, LENGTH, THREADS = 12, 512, 2
MOST = 3000


def keys_of(seed: int) -> list[int]:
    """The keys that the delver presses in a game."""
    engine, pressed = engine_of(seed, None), []
    program = delver(engine.arrays)
    key = next(program)
    try:
        while len(pressed) < MOST:
            pressed.append(key)
            if engine.press(key).ended:
                break
            key = program.send(engine.arrays)
    except StopIteration:
        pass
    engine.close()
    return pressed


def engine_of(seed: int, ttyrec: Path | None) -> NetHackEngine:
    options = {"character": CHARACTER}
    spec = GameSpec("nle", "NetHackChallenge-v0", Seeds(seed, seed), 100_000, options)
    engine = NetHackEngine(spec, None if ttyrec is None else str(ttyrec))
    engine.start()
    return engine


def press_all(games: list[list[int]], root: Path | None) -> float:
    """Processor seconds for the same keys in the same games, recorded or not."""
    seconds = 0.0
    for seed, keys in enumerate(games):
        path = None if root is None else root / f"game{seed}" / f"nle.{seed}.0.ttyrec3.bz2"
        engine = engine_of(seed, path)
        begun = time.process_time()
        for key in keys:
            engine.press(key)
        engine.close()
        seconds += time.process_time() - begun
    return seconds


def recording(games: list[list[int]], root: Path) -> None:
    presses = sum(map(len, games))
    bare, kept = press_all(games, None), press_all(games, root)
    size = sum(path.stat().st_size for path in root.glob("*/*.bz2"))
    print(f"{len(games)} games, {presses:,} keys: {1e6 * bare / presses:.1f} us a key,", end=" ")
    print(f"recorded {1e6 * kept / presses:.1f} us, {size / presses:.1f} bytes a frame")


def importing(root: Path, count: int, scratch: Path) -> None:
    """Games as left by a run of short episodes: the smallest recording, many times."""
    smallest = min(root.glob("*/*.bz2"), key=lambda path: path.stat().st_size).parent
    for number in range(count):
        shutil.copytree(smallest, scratch / "many" / f"game{number:04d}")
    begun = time.perf_counter()
    found = import_folder(scratch / "many", scratch / "many.db")
    assert found.games == count
    print(f"import of {count:,} games: {time.perf_counter() - begun:.2f} s (target 10 for 1,000)")


def streaming(root: Path, db: Path, rounds: int) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from nle.dataset import TtyrecDataset

    def bare() -> int:
        with ThreadPoolExecutor(THREADS) as pool:
            dataset = TtyrecDataset(
                root.name, BATCH, LENGTH, dbfilename=str(db), threadpool=pool, shuffle=False
            )
            return sum(int((batch["gameids"] != 0).sum()) for batch in dataset)

    def ours() -> int:
        with stream(db, root.name, BATCH, LENGTH, THREADS) as batches:
            return sum(int((batch["gameids"] != 0).sum()) for batch in batches)

    rates: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(rounds):
        for name, read in (("bare", bare), ("ours", ours)):
            begun = time.perf_counter()
            rates[name].append(read() / (time.perf_counter() - begun))
    best = {name: max(found) for name, found in rates.items()}
    print(f"stream {BATCH} x {LENGTH}, {THREADS} threads: {best['ours']:,.0f} frames a second,", end=" ")
    print(f"nle's own {best['bare']:,.0f}; ratio {best['ours'] / best['bare']:.3f} (target 0.97)")


def learning(db: Path, name: str, scratch: Path) -> None:
    import torch

    from balrog_rag.dataset.learn.checkpoint import load_network
    from balrog_rag.dataset.learn.checkpoint_player import playing
    from balrog_rag.dataset.learn.cloning import Settings, begun, save
    from balrog_rag.dataset.learn.curve import Curve

    torch.set_num_threads(1)
    settings = Settings(threads=1, batch=BATCH * 2)
    learner, frames = begun(db, name, scratch / "clone", settings), 0
    shape = (settings.batch, settings.length)
    with stream(db, name, *shape, 0, 0, learner.about.games, forever=True) as batches:
        learner.learn(next(batches))
        start = time.process_time()
        for _ in range(20):
            frames += learner.learn(next(batches))[2]
    print(f"learning: {frames / (time.process_time() - start):,.0f} frames a second and core (target 2,400)")
    save(learner, scratch / "clone", Curve(scratch / "clone", 0))
    engine = engine_of(1, None)
    player = playing(engine.arrays, load_network(scratch / "clone"), 1)
    next(player)
    start, steps = time.process_time(), 2000
    for _ in range(steps):
        player.send(engine.arrays)
    print(
        f"playing: {steps / (time.process_time() - start):,.0f} keys chosen a second and core (target 1,000)"
    )
    engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=24)
    parser.add_argument("--imported", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    games = [keys_of(seed) for seed in range(options.games)]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        root, db = scratch / "bot", scratch / "games.db"
        recording(games, root)
        importing(root, options.imported, scratch)
        import_folder(root, db)
        streaming(root, db, options.rounds)
        try:
            learning(db, root.name, scratch)
        except ImportError as error:
            print(f"learning: not measured, {error.name} is not installed (pip install 'balrog_rag[learn]')")


if __name__ == "__main__":
    main()
