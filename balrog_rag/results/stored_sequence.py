"""Many stored episodes in an order: two numbers for each, and an object only while somebody looks at it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from balrog_rag.episode.spec import episode_name
from balrog_rag.results.episode_columns import Names
from balrog_rag.results.episodes import Episode, EpisodeList, EpisodeSequence, as_sequence
from balrog_rag.results.statistics.draw_keys import DrawKeys
from balrog_rag.results.stored_episodes import StoredEpisode, StoredRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 4_096
"""Episodes whose places are converted together while all are looked at."""
MANY = 5_000
"""Rows from which columns are worth the import of numpy, which most runs do without."""


class StoredEpisodes(EpisodeSequence):
    """Rows of several parts. What is assigned to an episode of it is lost: each look makes a new object."""

    def __init__(
        self, parts: Sequence[StoredRows], part: "NDArray[np.int64]", row: "NDArray[np.int64]"
    ) -> None:
        self.parts, self.part, self.row = parts, part, row

    def __len__(self) -> int:
        return len(self.row)

    @overload
    def __getitem__(self, place: int) -> Episode: ...
    @overload
    def __getitem__(self, place: slice) -> "StoredEpisodes": ...
    def __getitem__(self, place: int | slice) -> "Episode | StoredEpisodes":
        if isinstance(place, slice):
            return StoredEpisodes(self.parts, self.part[place], self.row[place])
        return self.parts[int(self.part[place])][int(self.row[place])]

    def __iter__(self) -> Iterator[Episode]:
        for at in range(0, len(self), AT_ONCE):
            part, row = (each[at : at + AT_ONCE].tolist() for each in (self.part, self.row))
            for of, place in zip(part, row, strict=True):
                yield self.parts[of][place]

    @cached_property
    def draw_keys(self) -> DrawKeys:
        """Their draws."""
        from balrog_rag.results.coded_draw_keys import CodedDrawKeys

        return CodedDrawKeys(self.arrays)

    def having(self, field: str) -> "StoredEpisodes":
        """Those of which the value of a field is true."""
        return self.take(self.arrays.true(field).nonzero()[0])

    def without(self, names: Iterable[str]) -> "StoredEpisodes":
        """All but the episodes of these names."""
        import numpy as np

        left_out, played = np.zeros(len(self), dtype=bool), self.arrays.played
        for task, numbers in _by_task(names).items():
            if task in played:
                places, known = played[task]
                left_out[places[np.isin(known, numbers)]] = True
        return self.take((~left_out).nonzero()[0])

    def owed(self, planned: Sequence[tuple[str, int]]) -> list[str]:
        """The names of the episodes that are planned, by task and their number, and not among these."""
        import numpy as np

        played, found = self.arrays.played, []
        for task, count in planned:
            open_still = np.ones(count, dtype=bool)
            if task in played:
                numbers = played[task][1]
                open_still[numbers[(numbers >= 0) & (numbers < count)]] = False
            found += [episode_name(task, number) for number in open_still.nonzero()[0].tolist()]
        return found

    def take(self, places: "Sequence[int] | NDArray[np.int64]") -> "StoredEpisodes":
        """The episodes at these places."""
        return StoredEpisodes(self.parts, self.part[places], self.row[places])


def _by_task(names: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name in names:
        task, _, number = name.rpartition("/")
        if number.isdecimal() and episode_name(task, int(number)) == name:
            found.setdefault(task, []).append(int(number))
    return found


def having(episodes: Sequence[Episode], field: str) -> Sequence[Episode]:
    """Those of which the value of a field is true."""
    if isinstance(episodes, StoredEpisodes):
        return episodes.having(field)
    return [each for each in episodes if getattr(each, field)]


def together(sequences: Sequence[Sequence[Episode]]) -> EpisodeSequence:
    """The episodes of all of these, one after another."""
    if len(sequences) == 1:
        return as_sequence(sequences[0])
    stored = [each for each in sequences if isinstance(each, StoredEpisodes)]
    if not stored or len(stored) < len(sequences):
        return EpisodeList(episode for each in sequences for episode in each)
    import numpy as np

    before = np.cumsum([0, *(len(each.parts) for each in stored)])
    return StoredEpisodes(
        [part for each in stored for part in each.parts],
        np.concatenate([each.part + first for each, first in zip(stored, before, strict=False)]),
        np.concatenate([each.row for each in stored]),
    )


def in_display_order(parts: Sequence[StoredRows]) -> Sequence[Episode]:
    """Return the episodes of these rows by environment, task and number; of two of one name, the later."""
    if sum(map(len, parts)) < MANY or any(not isinstance(part.column("name"), Names) for part in parts):
        rows = {row.name: row for part in parts for row in part}
        return sorted(rows.values(), key=display_order)
    return _sorted_by_columns(parts)


def display_order(episode: Episode) -> tuple[str, str, int, str]:
    """Sort key of the episodes of a run."""
    return episode.env, episode.task, len(episode.number), episode.number


def _sorted_by_columns(parts: Sequence[StoredRows]) -> StoredEpisodes:
    import numpy as np

    columns = [part.column("name") for part in parts]
    names = [column for column in columns if isinstance(column, Names)]
    tasks = sorted({task for column in names for task in column.tasks}, key=lambda task: task.split("/", 1))
    ranks = {task: rank for rank, task in enumerate(tasks)}
    rank = np.concatenate(
        [
            np.array([ranks[task] for task in each.tasks], dtype=np.int64)[np.array(each.codes)]
            for each in names
        ]
    )
    number = np.concatenate([np.array(column.numbers) for column in names])
    part = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
    row = np.concatenate([np.arange(len(each)) for each in parts])
    rises = (rank[1:] > rank[:-1]) | ((rank[1:] == rank[:-1]) & (number[1:] > number[:-1]))
    if rises.all():
        return StoredEpisodes(parts, part, row)
    order = np.lexsort((part, number, rank))
    rank, number = rank[order], number[order]
    last = np.ones(len(order), dtype=bool)
    last[:-1] = (rank[1:] != rank[:-1]) | (number[1:] != number[:-1])
    order = order[last]
    return StoredEpisodes(parts, part[order], row[order])


def rows_by_part(episodes: Sequence[Episode]) -> list[tuple[StoredRows, list[int]]]:
    """The rows of stored episodes, by the part that contains them."""
    if isinstance(episodes, StoredEpisodes):
        return [(rows, row.tolist()) for rows, row, _ in by_part(episodes.parts, episodes.part, episodes.row)]
    found: dict[int, tuple[StoredRows, list[int]]] = {}
    for each in episodes:
        assert isinstance(each, StoredEpisode)
        found.setdefault(id(each.rows), (each.rows, []))[1].append(each.row)
    return list(found.values())


def by_part(
    parts: Sequence[StoredRows], of: "NDArray[np.int64]", row: "NDArray[np.int64]"
) -> list[tuple[StoredRows, "NDArray[np.int64]", "NDArray[np.int64]"]]:
    """Group rows by their part, in order of appearance."""
    import numpy as np

    used, first = np.unique(of, return_index=True)
    order = np.argsort(of, kind="stable")
    places = np.split(order, np.cumsum(np.bincount(of)[used])[:-1]) if len(used) else []
    found = [(parts[part], row[mine], mine) for part, mine in zip(used.tolist(), places, strict=True)]
    return [found[place] for place in np.argsort(first).tolist()]
