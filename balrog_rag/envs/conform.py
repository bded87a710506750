"""Compare recordings of BALROG's own games with ours, state by state."""

import gzip
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from numpy.typing import NDArray

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.envs.small_engine import Moment, SmallEngine

GAMES = ("babyai", "babaisai", "crafter", "textworld")
OWN_PICTURES = ("babaisai",)
"""Games with pictures of our own: only which moments look alike can be compared."""
_DICTIONARY = "defaultdict("
"""Here BALROG prints a Python dictionary instead of a level of Baba; only the text before it is compared."""
_DIGITS = 9
"""Decimal places of rewards in recordings."""


class State(msgspec.Struct, frozen=True):
    """One recorded moment; the first of an episode has no action."""

    long: str
    short: str
    progression: float
    taken: str = ""
    reward: float = 0.0
    done: bool = False
    image: str = ""


class OriginalGame(msgspec.Struct, frozen=True):
    """One recorded episode."""

    env: str
    task: str
    seed: int
    max_steps: int
    start: State
    steps: list[State]
    mission: str = ""


class Difference(msgspec.Struct, frozen=True):
    """Where one of our games first deviates from a recording."""

    env: str
    task: str
    seed: int
    step: int
    what: str
    recorded: str
    ours: str


class ComparisonCount(msgspec.Struct):
    """Number of compared states of an environment, and of those that differ."""

    episodes: int = 0
    states: int = 0
    differing: int = 0
    first: Difference | None = None


def compare(path: Path, pictures: bool = True) -> dict[str, ComparisonCount]:
    """Replay every recorded episode; return the result by environment."""
    results: dict[str, ComparisonCount] = {}
    for recording in read(path):
        result = results.setdefault(recording.env, ComparisonCount())
        result.episodes += 1
        for step, differences in enumerate(replay(recording, pictures)):
            result.states += 1
            result.differing += bool(differences)
            if differences and result.first is None:
                what, recorded, ours = differences[0]
                result.first = Difference(
                    recording.env, recording.task, recording.seed, step, what, recorded, ours
                )
    return results


def read(path: Path) -> Iterator[OriginalGame]:
    """Read the episodes of a file, one JSON object per line."""
    decoder = msgspec.json.Decoder(OriginalGame)
    try:
        with gzip.open(path) as file:
            for number, line in enumerate(file, 1):
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise BalrogError(f"{path}: line {number} is not a recorded episode ({error})") from error
    except (OSError, EOFError) as error:
        raise BalrogError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def replay(recording: OriginalGame, pictures: bool = True) -> Iterator[list[tuple[str, str, str]]]:
    """Yield the differences at each state of a recording: what differs, as recorded, and as here."""
    engine, looks = make(recording), PictureComparison(recording.env in OWN_PICTURES) if pictures else None
    try:
        moment = engine.reset()
        begins = [("mission", recording.mission, engine.goal)] if recording.mission else []
        limits = ("max_steps", str(recording.max_steps), str(engine.max_steps))
        yield _differing([*begins, limits, *_sides(recording.start, moment, engine, looks)])
        for state in recording.steps:
            if moment.ended:
                yield [("ended", "", moment.ended)]
                return
            moment = engine.step(state.taken)
            yield _differing(_sides(state, moment, engine, looks))
    finally:
        engine.close()


def make(recording: OriginalGame) -> SmallEngine:
    """Create the game of a recording."""
    if recording.env not in GAMES:
        raise ConfigError(f"no recordings of {recording.env!r} can be compared; known: {', '.join(GAMES)}")
    engine: SmallEngine = import_module(f"balrog_rag.envs.{recording.env}.game").make(
        recording.task, recording.seed
    )
    return engine


class PictureComparison:
    """The pictures of one episode, recorded and ours."""

    def __init__(self, own: bool) -> None:
        """With `own` pictures, ours must be equal exactly where the recorded ones are."""
        self._own = own
        self._ours: dict[str, str] = {}
        self._recorded: dict[str, str] = {}

    def sides(self, recorded: str, ours: str) -> tuple[str, str]:
        """The two values that have to be equal."""
        if not self._own:
            return recorded, ours
        if recorded in self._ours:
            return self._ours[recorded], ours
        self._ours[recorded] = ours
        return recorded, self._recorded.setdefault(ours, recorded)


def fingerprint(pixels: NDArray[Any]) -> str:
    """The hash by which recordings identify a picture."""
    height, width = pixels.shape[:2]
    return blake2b(pixels.tobytes() + str((width, height)).encode(), digest_size=8).hexdigest()


def _sides(
    state: State, moment: Moment, engine: SmallEngine, looks: PictureComparison | None
) -> Iterator[tuple[str, str, str]]:
    """All compared properties, as recorded and as here."""
    text, broken, _ = state.long.partition(_DICTIONARY)
    yield "long", text, moment.long[: len(text)] if broken else moment.long
    yield "short", state.short, moment.short
    yield "reward", str(state.reward), str(round(moment.reward, _DIGITS))
    yield "done", str(state.done), str(bool(moment.ended))
    yield "progression", str(state.progression), str(moment.progression)
    if looks is not None and state.image:
        pixels = engine.picture()
        yield "image", *looks.sides(state.image, "" if pixels is None else fingerprint(pixels))


def _differing(sides: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [side for side in sides if side[1] != side[2]]
