"""Values of many episodes at once: arrays gathered from the columns in which an index stores them.

Nothing here makes an object per episode. What follows from a few stored values, such as the class of an end,
is computed once for each combination of them that occurs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

import msgspec
import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.kinds import Measure, kind_of
from balrog_rag.results.coded_values import Coded, Codes, inside, known_numbers
from balrog_rag.results.episode_columns import (
    NO_SEED,
    SEPARATOR,
    GameColumn,
    NamedNumbers,
    Names,
    Numbers,
    PointLists,
    Repeated,
    flat,
)
from balrog_rag.results.episodes import IN_THE_PROMPT, Calls, Episode, EpisodeSequence, Point
from balrog_rag.results.point_arrays import gathered
from balrog_rag.results.stored_episodes import StoredEpisode, StoredRows
from balrog_rag.results.stored_sequence import StoredEpisodes, by_part

Floats: TypeAlias = NDArray[np.float64]
_encode = msgspec.msgpack.Encoder(order="sorted").encode
TASK = "env/task"
"""The name of an episode without its number, for `EpisodeArrays.mapped`."""
BARE_GAME = "game without seeds"
"""Its game with seeds 0, for `EpisodeArrays.mapped`."""


GAME_NAME, WORLD_NAME = "identity of the game", "world of the game"
"""What `game_name` and `world_name` say."""


class EpisodeArrays:
    """The values of a list of episodes, field by field, in its order."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self.episodes = episodes
        self._stored = isinstance(episodes, StoredEpisodes) or all(
            isinstance(each, StoredEpisode) and not each.rows.changed
            for each in cast(Sequence[object], episodes)
        )

    def __len__(self) -> int:
        return len(self.episodes)

    def chunks(self, size: int) -> Iterator["EpisodeArrays"]:
        """Parts of this size, one after another."""
        return (EpisodeArrays(self.episodes[at : at + size]) for at in range(0, len(self), size))

    @cached_property
    def _parts(self) -> list[tuple[StoredRows, Codes, Codes]]:
        """Stored rows, which of them are in the list, and where in the list."""
        if isinstance(self.episodes, StoredEpisodes):
            return by_part(self.episodes.parts, self.episodes.part, self.episodes.row)
        stored = cast(Sequence[StoredEpisode], self.episodes)
        parts: dict[int, tuple[int, StoredRows]] = {}
        of = np.empty(len(stored), dtype=np.int64)
        row = np.empty(len(stored), dtype=np.int64)
        for place, each in enumerate(stored):
            of[place] = parts.setdefault(id(each.rows), (len(parts), each.rows))[0]
            row[place] = each.row
        return by_part([rows for _, rows in parts.values()], of, row)

    def coded(self, field: str) -> Coded:
        """The values of a field, or of TASK or BARE_GAME, with equal ones under one code."""
        known: dict[bytes, int] = {}
        values: list[Any] = []
        codes = np.empty(len(self), dtype=np.int64)

        def code(value: Any) -> int:
            place = known.setdefault(_encode(value), len(values))
            if place == len(values):
                values.append(value)
            return place

        for shared, own, at in self._shared(field):
            used, inverse = np.unique(own, return_inverse=True)
            codes[at] = np.array([code(shared[each]) for each in used.tolist()], dtype=np.int64)[inverse]
        return Coded(codes, values)

    def _shared(self, field: str) -> Iterator[tuple[Sequence[Any], Codes, Any]]:
        """Distinct values, codes of rows, and where the rows are."""
        if not self._stored:
            found = [_bare(each, field) for each in self.episodes]
            yield found, np.arange(len(found)), slice(None)
            return
        for rows, own, at in self._parts:
            if field in (GAME_NAME, WORLD_NAME):
                values, codes = rows.games if field == GAME_NAME else rows.worlds
                yield values, _array(codes)[own], at
                continue
            column = rows.column({TASK: "name", BARE_GAME: "game"}.get(field, field))
            if isinstance(column, Repeated):
                yield column.values, _array(column.codes)[own], at
            elif field == TASK and isinstance(column, Names):
                yield column.tasks, _array(column.codes)[own], at
            elif field == BARE_GAME and isinstance(column, GameColumn):
                bare = [msgspec.structs.replace(spec, seeds=Seeds(0, 0)) for spec in column.specs]
                yield bare, _array(column.codes)[own], at
            elif field in (TASK, BARE_GAME):
                yield [_bare(rows[row], field) for row in own.tolist()], np.arange(len(own)), at
            else:
                yield [column[row] for row in own.tolist()], np.arange(len(own)), at

    def mapped(self, function: Callable[..., Any], *fields: str) -> Coded:
        """Apply a function to the values of these fields, once per combination that occurs."""
        columns = [self.coded(field) for field in fields]
        together = columns[0].codes
        for column in columns[1:]:
            together = together * len(column.values) + column.codes
        _, first, codes = np.unique(together, return_index=True, return_inverse=True)
        values = [
            function(*(column.values[column.codes[place]] for column in columns)) for place in first.tolist()
        ]
        return Coded(codes, values)

    def values(self, field: str) -> list[Any]:
        """The values of a field."""
        if not self._stored:
            return [getattr(each, field) for each in self.episodes]
        found = np.empty(len(self), dtype=object)
        for rows, own, at in self._parts:
            column = rows.column(field)
            for row, place in zip(own.tolist(), at.tolist(), strict=True):
                found[place] = column[row]
        return found.tolist()

    def numbers(self, field: str) -> NDArray[Any]:
        """The values of a field of numbers."""
        columns = [rows.column(field) for rows, _, _ in self._parts] if self._stored else [None]
        if not all(isinstance(column, Numbers) for column in columns):
            return np.array(self.values(field))
        parts = [np.asarray(cast(Numbers, column).array) for column in columns]
        made = np.empty(len(self), dtype=parts[0].dtype if parts else float)
        for part, (_, own, at) in zip(parts, self._parts, strict=True):
            made[at] = part[own]
        return made

    def true(self, field: str) -> NDArray[np.bool_]:
        """Where the value of a field is true."""
        if self._stored and all(isinstance(rows.column(field), Numbers) for rows, _, _ in self._parts):
            found: NDArray[np.bool_] = self.numbers(field) != 0
            return found
        return np.array(self.coded(field).mapped(bool).array(), dtype=bool)

    @cached_property
    def played(self) -> dict[str, tuple[Codes, Codes]]:
        """By task, as episode names write it: where its episodes are, and their numbers."""
        numbers = np.empty(len(self), dtype=np.int64)
        for rows, own, at in self._parts:
            column = rows.column("name")
            assert isinstance(column, Names)  # episodes with other names are held as objects
            numbers[at] = np.frombuffer(column.numbers, dtype=np.int64)[own]
        tasks = self.coded(TASK)
        places = [(tasks.codes == code).nonzero()[0] for code in range(len(tasks.values))]
        return {task: (mine, numbers[mine]) for task, mine in zip(tasks.values, places, strict=True)}

    def inner(self, field: str, *path: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The numbers under a name in a field of mappings or structs, and where they are known."""
        if not self._stored or not all(
            isinstance(rows.column(field), NamedNumbers) for rows, _, _ in self._parts
        ):
            return known_numbers([inside(value, path) for value in self.values(field)])
        found, there = np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=bool)
        for rows, own, at in self._parts:
            stored = cast(NamedNumbers, rows.column(field)).array(*path)
            if stored is None:
                continue
            values, mask = stored
            if values.dtype != found.dtype and values.dtype.kind == "f":
                found = found.astype(float)
            found[at], there[at] = values[own], True if mask is None else mask[own]
        return found, there & (found == found)

    @cached_property
    def purposes(self) -> list[str]:
        """The purposes of calls, sorted: sums of floats are added in this order."""
        if not self._stored:
            return sorted({purpose for each in self.episodes for purpose in each.calls})
        columns = [rows.column("calls") for rows, _, _ in self._parts]
        if all(isinstance(column, NamedNumbers) for column in columns):
            return sorted({path[0] for column in columns for path in cast(NamedNumbers, column).paths})
        return sorted({purpose for calls in self.values("calls") for purpose in calls})

    def names(self, field: str) -> set[tuple[str, ...]]:
        """The names under which a field of mappings or structs has numbers in any episode."""
        columns = [rows.column(field) for rows, _, _ in self._parts] if self._stored else [None]
        if all(isinstance(column, NamedNumbers) for column in columns):
            return {path for column in columns for path in cast(NamedNumbers, column).paths}
        found = [flat(value) for value in self.values(field)]
        return {tuple(name.split(SEPARATOR)) for value in found for name in value}

    @cached_property
    def points(self) -> tuple[Codes, Floats]:
        """How many points each curve has; and of all points the step, tokens, dollars and progression."""
        return self._flattened("curve", 4)

    @cached_property
    def courses(self) -> tuple[Codes, Floats]:
        """How many points each timeline has; and of all points the time and the height."""
        return self._flattened("course", 2)

    def _flattened(self, field: str, width: int) -> tuple[Codes, Floats]:
        columns = [rows.column(field) for rows, _, _ in self._parts] if self._stored else [None]
        if all(isinstance(column, PointLists) for column in columns):
            return gathered(cast(list[PointLists], columns), self._parts, len(self), width)
        counts, numbers = [], []
        for chunk in self.chunks(_ROWS):
            lists = chunk.values(field)
            counts.append(np.array([len(each) for each in lists], dtype=np.int64))
            points = [
                astuple(point) if isinstance(point, Point) else point for each in lists for point in each
            ]
            numbers.append(np.array(points, dtype=float).reshape(-1, width))
        if not counts:
            return np.zeros(0, dtype=np.int64), np.zeros((0, width))
        return np.concatenate(counts), np.concatenate(numbers)

    @cached_property
    def env(self) -> Coded:
        """The environments."""
        return self.mapped(lambda name: name.partition("/")[0], TASK)

    @cached_property
    def task(self) -> Coded:
        """The tasks, with their versions unless these are the first."""
        return self.mapped(lambda name, game: game.versioned(name.partition("/")[2]), TASK, BARE_GAME)

    @cached_property
    def games(self) -> Coded:
        """The games that are played: environment, task and the game's identity."""

        def game(name: str, bare: GameSpec, identity: str) -> tuple[str, str, str]:
            env, _, task = name.partition("/")
            return env, bare.versioned(task), identity

        return self.mapped(game, TASK, BARE_GAME, GAME_NAME)

    @property
    def bare_games(self) -> dict[tuple[str, str], list[GameSpec]]:
        """The games regardless of their seeds, by environment and task."""
        found: dict[tuple[str, str], list[GameSpec]] = {}
        for name, bare in self.mapped(lambda name, bare: (name, bare), TASK, BARE_GAME).values:
            env, _, task = name.partition("/")
            found.setdefault((env, bare.versioned(task)), []).append(bare)
        return found

    @property
    def models(self) -> list[Mapping[str, Any]]:
        """The settings of the models that were called."""
        found = self.coded("model")
        return [found.values[code] for code in np.unique(found.codes[self.has_calls]).tolist()]

    @property
    def seeds(self) -> tuple[list[Any] | NDArray[Any], ...]:
        """Core, disp and lgen seeds; the last are None if the games have none."""
        columns = [rows.column("game") for rows, _, _ in self._parts] if self._stored else [None]
        if not all(isinstance(column, GameColumn) for column in columns):
            games = self.values("game")
            return tuple([getattr(game.seeds, name) for game in games] for name in ("core", "disp", "lgen"))
        found = np.zeros((3, len(self)), dtype=np.int64)
        for column, (_, own, at) in zip(columns, self._parts, strict=True):
            for place, stored in enumerate(cast(GameColumn, column).seeds):
                found[place, at] = np.frombuffer(stored, dtype=np.int64)[own]
        lgen = [None if seed == NO_SEED else seed for seed in found[2].tolist()]
        return found[0], found[1], lgen

    @cached_property
    def cause(self) -> Coded:
        """The classes of the games' ends."""

        def cause(game: GameSpec, outcome: str, facts: Mapping[str, Any]) -> str:
            return kind_of(game.env).retrospect.cause(outcome, facts)

        return self.mapped(cause, BARE_GAME, "outcome", "facts")

    @property
    def preventable(self) -> Coded:
        """Whether a passage read in time would have prevented these ends."""

        def preventable(game: GameSpec, outcome: str, facts: Mapping[str, Any]) -> bool:
            retrospect = kind_of(game.env).retrospect
            return retrospect.cause(outcome, facts) in retrospect.preventable

        return self.mapped(preventable, BARE_GAME, "outcome", "facts")

    @property
    def ended_by(self) -> Coded:
        """How the games ended in their own words."""
        return self.mapped(lambda game, facts: kind_of(game.env).display.ending(facts), BARE_GAME, "facts")

    @cached_property
    def has_calls(self) -> NDArray[np.bool_]:
        """Whether a model was called."""
        made = np.zeros(len(self), dtype=bool)
        for purpose in self.purposes:
            made |= self.inner("calls", purpose, "count")[1]
        return made

    @property
    def asked_model(self) -> Coded:
        """The settings of the models; empty for programs that play without one."""
        models = self.coded("model")
        return Coded(np.where(self.has_calls, models.codes, len(models.values)), [*models.values, {}])

    def measured(self, measure: Measure) -> NDArray[Any]:
        """The values of one of a kind's measures; NaN where a journal lacks it."""
        if measure.follow is not None:
            values, there = self.inner("followed", measure.name)
            return np.where(there, values, np.nan)
        values, there = self.inner("last" if measure.taken == "last" else "most", measure.number)
        return np.where(there, values, 0)

    def calls(self, field: str, purpose: str) -> NDArray[Any]:
        """One figure of `Calls` of one purpose; 0 for episodes without such calls."""
        values, there = self.inner("calls", purpose, field)
        return np.where(there, values, 0)

    def total(self, field: str) -> NDArray[Any]:
        """One figure of `Calls` over all purposes."""
        made: NDArray[Any] = np.zeros(len(self), dtype=float if field in _FLOATS else np.int64)
        for purpose in self.purposes:
            made = made + self.calls(field, purpose)
        return made

    @cached_property
    def unseen(self) -> NDArray[np.bool_]:
        """Whether the tokens of all of an episode's calls are unknown."""
        count = self.total("count")
        unknown: NDArray[np.bool_] = (count > 0) & (count == self.total("uncounted"))
        return unknown

    @property
    def percent(self) -> Floats:
        """Progression in percent."""
        return 100 * self.numbers("progression").astype(float)

    @property
    def seconds(self) -> Floats:
        """Seconds spent waiting for answers and searches."""
        seconds: Floats = self.total("seconds") + self.lookups("seconds")
        return seconds

    def lookups(self, field: str) -> NDArray[Any]:
        """One figure of `Lookups`."""
        return self.figures("lookups", field)

    def figures(self, field: str, *path: str) -> NDArray[Any]:
        """The numbers under a name in a field of mappings or structs; 0 where there is none."""
        values, there = self.inner(field, *path)
        return np.where(there, values, 0)

    @property
    def lookups_used(self) -> NDArray[Any]:
        """Steps whose prompt contained retrieved passages."""
        made: NDArray[Any] = np.zeros(len(self), dtype=np.int64)
        for word in IN_THE_PROMPT:
            values, there = self.inner("lookups", "ends", word)
            made = made + np.where(there, values, 0)
        return made


_ROWS = 20_000
"""Rows of lists that are held as objects while they become arrays."""


def arrays_of(episodes: Sequence[Episode]) -> EpisodeArrays:
    """The values of these episodes, made once for a list that keeps them."""
    return episodes.arrays if isinstance(episodes, EpisodeSequence) else EpisodeArrays(episodes)


_FLOATS = {each.name for each in msgspec.structs.fields(Calls) if each.type is float}


def _array(codes: memoryview) -> Codes:
    return np.frombuffer(codes, dtype=np.int32).astype(np.int64)


def _bare(episode: Episode, field: str) -> Any:
    if field == TASK:
        return episode.name.rpartition("/")[0]
    if field == BARE_GAME:
        return msgspec.structs.replace(episode.game, seeds=Seeds(0, 0))
    return getattr(episode, {GAME_NAME: "game_name", WORLD_NAME: "world_name"}.get(field, field))
