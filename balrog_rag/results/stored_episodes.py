"""Episodes of an index, in columns: an object is a row number, and reads fields where they are stored."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import nan
from typing import Any, TypeAlias, cast

import msgspec

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.kinds import EnvironmentKind, Measure, kind_of
from balrog_rag.results.episode_columns import GameColumn, NamedNumbers, Names, StoredColumn, packed, unpacked
from balrog_rag.results.episodes import Calls, Episode, EpisodeProperties, calls_together

_TYPES = msgspec.structs.fields(Episode)
_OF = {field.name: field.type for field in _TYPES}
_WAYS = {
    "name": "names",
    "game": "games",
    **dict.fromkeys(("progression", "steps", "keys", "invalid", "total_reward", "loops"), "numbers"),
    **dict.fromkeys(("segments", "cut"), "numbers"),
    **dict.fromkeys(("agent", "model", "knowledge", "config_digest", "outcome", "highest"), "repeated"),
    **dict.fromkeys(("answered_by", "fingerprints", "forked", "facts"), "repeated"),
    **dict.fromkeys(("curve", "course"), "points"),
    **dict.fromkeys(("last", "most", "followed", "calls", "asked_again", "lookups"), "named"),
}
"""How each field is stored; others in blocks."""


def columns_of(episodes: Sequence[Episode]) -> dict[str, bytes]:
    """Store episodes by field; raises OverflowError for a number that no column can hold."""
    return {
        name: packed([getattr(episode, name) for episode in episodes], of, _WAYS.get(name, "blocks"))
        for name, of in _OF.items()
    }


GameNaming: TypeAlias = Callable[[GameSpec], str]
CodedNames: TypeAlias = tuple[list[str], memoryview]
"""Distinct names, and for each row the place of its own."""


class StoredRows:
    """Some episodes in columns, each decoded when it is first used."""

    def __init__(self, count: int, columns: Mapping[str, memoryview]) -> None:
        self._count, self.columns = count, columns
        self.decoded: dict[str, StoredColumn] = {}
        self.changed = False
        """Whether a value of some row was replaced in its object."""

    def column(self, field: str) -> StoredColumn:
        """Return the values of a field by row."""
        if field not in self.decoded:
            self.decoded[field] = unpacked(self.columns[field], _OF[field])
        return self.decoded[field]

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> Episode:
        return cast(Episode, StoredEpisode(self, row))

    def __iter__(self) -> Iterator[Episode]:
        return (self[row] for row in range(self._count))

    @cached_property
    def games(self) -> CodedNames:
        """The identity of each row's game, which comparisons ask for many times."""
        return self._of_games(lambda kind: kind.sampling.identity)

    @cached_property
    def worlds(self) -> CodedNames:
        """The world of each row's game; empty where its kind defines none."""
        return self._of_games(lambda kind: kind.sampling.world)

    def _of_games(self, function: Callable[[EnvironmentKind], GameNaming | None]) -> CodedNames:
        games, found = self.column("game"), array("i")
        names: dict[str, int] = {"": 0}
        kinds: dict[str, GameNaming | None] = {}
        if isinstance(games, GameColumn):
            kinds = {game.env: function(kind_of(game.env)) for game in games.specs}
            if not any(kinds.values()):
                return [""], memoryview(array("i", bytes(4 * self._count)))
        for row in range(self._count):
            game = games[row]
            if game.env not in kinds:
                kinds[game.env] = function(kind_of(game.env))
            named = kinds[game.env]
            found.append(0 if named is None else names.setdefault(named(game), len(names)))
        return list(names), memoryview(found)

    @cached_property
    def draw_keys(self) -> list[tuple[str, str, str, str]]:
        """The draw of each row, with one object for equal tasks."""
        names, games = self.column("name"), self.column("game")
        tasks: dict[tuple[str, int], tuple[str, str]] = {}
        found = []
        for row in range(self._count):
            qualified = (
                names.tasks[names.codes[row]] if isinstance(names, Names) else names[row].rpartition("/")[0]
            )
            version = games[row].version
            if (known := tasks.get((qualified, version))) is None:
                env, _, task = qualified.partition("/")
                known = tasks[qualified, version] = env, games[row].versioned(task)
            found.append((*known, self.game_name(row), self.world_name(row)))
        return found

    def game_name(self, row: int) -> str:
        """The identity of a row's game."""
        names, codes = self.games
        return names[codes[row]]

    def world_name(self, row: int) -> str:
        """The world of a row's game."""
        names, codes = self.worlds
        return names[codes[row]]

    @cached_property
    def totals(self) -> Sequence[StoredColumn] | None:
        """The calls of all purposes added up, by field of Calls; None if they are not stored as numbers."""
        calls = self.column("calls")
        if not isinstance(calls, NamedNumbers):
            return None
        purposes = sorted({path[0] for path in calls.paths})
        return [
            _sums([calls.numbers(purpose, field) for purpose in purposes], self._count)
            for field in Calls.__struct_fields__
        ]

    def calls_of(self, rows: Sequence[int]) -> dict[str, Calls]:
        """The calls of these rows added up, by purpose."""
        calls, found = self.column("calls"), dict[str, Calls]()
        if isinstance(calls, NamedNumbers):
            for purpose, field in calls.paths:
                numbers = calls.numbers(purpose, field) or ()
                total = sum(value for row in rows if (value := numbers[row]) is not None)
                setattr(found.setdefault(purpose, Calls()), field, total)
            return found
        for row in rows:
            for purpose, each in calls[row].items():
                found.setdefault(purpose, Calls()).add(each)
        return found


def _sums(columns: Iterable[Any], count: int) -> StoredColumn:
    found = [column for column in columns if column is not None]
    if len(found) == 1 and isinstance(found[0], memoryview):
        return found[0]
    return [sum(value for column in found if (value := column[row]) is not None) for row in range(count)]


class StoredEpisode(EpisodeProperties):
    """One row, with the attributes of an `Episode`."""

    __slots__ = ("row", "rows")

    def __init__(self, rows: StoredRows, row: int) -> None:
        self.rows, self.row = rows, row

    def __setattr__(self, name: str, value: Any) -> None:
        """Replace a value of this object; from then on its rows are not read as columns."""
        object.__setattr__(self, name, value)
        if name not in StoredEpisode.__slots__:
            self.rows.changed = True

    def __getattr__(self, name: str) -> Any:
        column = self.rows.decoded.get(name)
        if column is None:
            if name not in _OF:
                raise AttributeError(name)
            column = self.rows.column(name)
        return column[self.row]

    @property
    def total(self) -> Calls:  # type: ignore[override]
        """Totals of all calls."""
        if (totals := self.rows.totals) is None:
            return calls_together(self.calls)
        return Calls(*(column[self.row] for column in totals))

    @property
    def seconds(self) -> float:
        """Seconds spent waiting for answers and searches, over all attempts."""
        lookups = self.rows.column("lookups")
        numbers = lookups.numbers("seconds") if isinstance(lookups, NamedNumbers) else None
        return super().seconds if numbers is None else float(self.total.seconds + numbers[self.row])

    @property
    def draw_key(self) -> tuple[str, str, str, str]:
        """Environment, task, game and world."""
        return self.rows.draw_keys[self.row]

    @property
    def game_name(self) -> str:
        """Identifies the game: equal names are the same game."""
        return self.rows.game_name(self.row)

    def measured(self, measure: Measure) -> float:
        """The value of one of the kind's measures; NaN if the journal lacks it."""
        field = "last" if measure.taken == "last" else "most"
        field = field if measure.follow is None else "followed"
        column = self.rows.column(field)
        if not isinstance(column, NamedNumbers):
            return super().measured(measure)
        numbers = column.numbers(measure.name if measure.follow is not None else measure.number)
        value = None if numbers is None else numbers[self.row]
        if value is None:
            return nan if measure.follow is not None else 0
        return cast(float, value)

    def __repr__(self) -> str:
        return f"<stored episode {self.name}>"
