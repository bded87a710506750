"""Cut the recorded states of env=decisions out of games.

    python benchmarks/decision_states.py RUN... --out FOLDER

Every key of every journal is pressed again. A game gives each kind of situation at most one state: the first
moment at which NetHack waits for a command and the kind's condition holds. If there are more than 30 of a
kind, 30 are drawn with a fixed seed. The conditions are the functions below; `bank make --where` finds
similar states by the numbers alone. Without --out only the counts are printed.
"""

import argparse
import ctypes
import random
from collections import defaultdict
from pathlib import Path

import msgspec

import balrog_rag  # noqa: F401 - registers the games
from balrog_rag.envs.decisions.made_levels import STATES
from balrog_rag.envs.decisions.recorded_states import RecordedState, RecordedStates
from balrog_rag.envs.decisions.scene import Scene
from balrog_rag.envs.decisions.situations import COCKATRICES, ELVES, WERECREATURES
from balrog_rag.envs.nethack.game import NetHackEngine
from balrog_rag.envs.nethack.game_end import read_symbol
from balrog_rag.envs.nethack.observe import Observer
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.episode import journal
from balrog_rag.results.arms import run_folders
from balrog_rag.results.run_folder import journals

LATEST = 8000
"""The latest key press of a state."""
PAUSE, LONG_PAUSE = 700, 1000
"""Turns after a prayer in which another would be too early, and after which it is probably safe."""
FIRST_PRAYER = 300
"""The turn before which no prayer is safe."""
HUNGRY, WEAK = 2, 3
MEDUSA, CASTLE = 3, 4
"""Places in NetHack's own list of special levels, each of a branch and a level of two bytes."""


def open_squares(s: Scene) -> int:
    """Squares beside the hero that can be walked on."""
    table = k.kinds()
    return sum(t.CAREFUL[table.terrain[g]] if table.shows[g] == k.TERRAIN else True for g in s.around())


def corpse_near(s: Scene) -> bool:
    """Whether a corpse lies beside the hero."""
    return any(k.kinds().shows[glyph] == k.CORPSE for glyph in s.around())


def prayed_within(s: Scene, turns: int) -> bool:
    """Whether the hero has prayed in the last turns."""
    return s.prayed is not None and s.turn - s.prayed < turns


CONDITIONS = {
    "first_prayer": lambda s: (
        s.hp * 7 < s.max_hp and s.prayed is None and s.turn > FIRST_PRAYER and s.hurt and s.beside
    ),
    "no_prayer_left": lambda s: s.hp * 5 <= s.max_hp and s.hurt and prayed_within(s, PAUSE) and s.beside,
    "starving": lambda s: (
        s.hunger >= WEAK and s.turn > LONG_PAUSE and not prayed_within(s, LONG_PAUSE) and not s.carries_food
    ),
    "hungry_corpse": lambda s: s.hunger >= HUNGRY and not s.carries_food and corpse_near(s),
    "soldier_ants": lambda s: s.near(("soldier ant",), 2) and open_squares(s) >= 5,
    "floating_eye": lambda s: s.near(("floating eye",), 1),
    "cockatrice": lambda s: s.near(COCKATRICES, 2),
    "werecreature": lambda s: s.hurt and s.near(WERECREATURES, 1),
    "pit": lambda s: b"into a pit" in s.message and any(each.apart <= 3 for each in s.monsters),
    "elves": lambda s: s.depth >= 5 and s.near(ELVES, 2),
    "dwarf": lambda s: (
        s.experience_level <= 3 and s.hurt and s.hp * 3 < s.max_hp * 2 and s.near(("dwarf",), 1)
    ),
    "surrounded": lambda s: s.hurt and s.beside >= 3,
    "medusa": lambda s: (s.branch, s.depth) == s.medusa,
    "castle": lambda s: (s.branch, s.depth) == s.castle,
}


def special(engine: NetHackEngine, place: int) -> tuple[int, int]:
    """Return the branch and depth of a special level of the main dungeon."""
    levels = read_symbol(engine._game, "dungeon_topology", ctypes.c_ubyte * 10)
    return levels[2 * place], levels[2 * place + 1]


def states_of(path: Path, player: str, names: set[str]) -> dict[str, RecordedState]:
    """Return the states of one journal by kind."""
    recording = journal.read(path)
    keys = [key for step in recording.steps for key in step.pressed][:LATEST]
    game = recording.header.spec.game
    engine = NetHackEngine(game, None)
    engine.start()
    scene, observer, found = Scene(engine.arrays), Observer(engine.arrays, "hybrid"), {}
    scene.medusa, scene.castle = special(engine, MEDUSA), special(engine, CASTLE)
    try:
        for at, key in enumerate(keys, 1):
            if not isinstance(key, int) or engine.press(key).ended:
                break
            scene.see()
            if not scene.takes_command:
                continue
            for name in names - found.keys():
                if CONDITIONS[name](scene):
                    found[name] = RecordedState(
                        game.seeds.core,
                        game.seeds.disp,
                        "".join(map(chr, keys[:at])),
                        observer.observe("").digest,
                        scene.turn,
                        -1 if scene.prayed is None else scene.prayed,
                        player,
                    )
    finally:
        engine.close()
    return found


def main() -> None:
    """Search the runs and write the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs="*", choices=sorted(CONDITIONS), default=list(CONDITIONS))
    chosen = parser.parse_args()
    found: dict[str, list[RecordedState]] = defaultdict(list)
    searched = 0
    for folder in [each for run in chosen.runs for each in run_folders(run)]:
        player = msgspec.json.decode((folder / "config.json").read_bytes())["config"]["agent"]["name"]
        for path in journals(folder):
            searched += 1
            for name, state in states_of(path, player, set(chosen.only)).items():
                found[name].append(state)
    for name in chosen.only:
        states = found[name]
        drawn = random.Random(name)
        kept = drawn.sample(states, min(STATES, len(states)))
        # In no order, so that a run of few episodes has states of many games.
        drawn.shuffle(kept)
        size = sum(len(state.keys) for state in kept)
        print(f"{name}: {len(states)} of {searched} games, {len(kept)} kept, {size:,} keys")
        if chosen.out is not None:
            chosen.out.mkdir(parents=True, exist_ok=True)
            file = RecordedStates(len(states), searched, tuple(kept))
            text = msgspec.json.format(msgspec.json.encode(file), indent=1)
            (chosen.out / f"{name}.json").write_bytes(text + b"\n")


if __name__ == "__main__":
    main()
