"""Training data from journals: dialogues with marked answers, or pairs of a better and a worse answer.

Episodes are read one at a time (preferences: the episodes of one game at a time) and written at once, so
memory does not grow with the size of a run. Only a digest per answer is kept, to drop duplicates.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from balrog_rag.contracts.data import Message
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.spec import PlayerSpec
from balrog_rag.export.bot_dialogue import as_dialogue, is_bots, reader
from balrog_rag.export.samples import Sample, SampleCollector, as_chat
from balrog_rag.results.episodes import Episode
from balrog_rag.results.run_folder import is_journal, journals
from balrog_rag.results.tally import read_episode
from balrog_rag.run.replay import replay

KINDS = ("sft", "preference", "chat")


class Filters(NamedTuple):
    """Which episodes and answers are exported."""

    outcomes: frozenset[str] = frozenset()
    """Empty: any."""
    least: float = 0.0
    """The least progression of an episode."""
    until_progress: bool = False
    """Whether answers after the last rise of progression are left out."""
    duplicates: bool = False
    """Whether the same answer to the same prompt is learned more than once."""

    def admits(self, episode: Episode) -> bool:
        """Whether an episode is exported."""
        wanted = not self.outcomes or episode.outcome in self.outcomes
        return wanted and episode.progression >= self.least


class Exported(msgspec.Struct):
    """What an export has written and left out."""

    episodes: int = 0
    samples: int = 0
    answers: int = 0
    filtered: int = 0
    """Episodes that the filters leave out."""
    unfinished: int = 0
    duplicates: int = 0
    """Answers left out because the same prompt had the same answer before."""


class _Played(NamedTuple):
    path: Path
    episode: Episode


def export_training(
    paths: Sequence[Path], kind: str, out: BinaryIO, filters: Filters, words: Sequence[str]
) -> Exported:
    """Write the data of these runs and journals; `words` choose the agent that reads a bot's games."""
    made = Exported()
    readers = _Readers(words)
    if words:
        _ = readers.player  # a mistake in them is one even where no bot played
    played = _admitted(_found(paths), filters, made)
    if kind == "preference":
        lines = _preferences(played, readers, made)
    else:
        lines = _dialogues(played, readers, filters, made, kind == "sft")
    for line in lines:
        made.samples += 1
        out.write(msgspec.json.encode(line) + b"\n")
    return made


class _Readers:
    """The agent that reads the games of bots, composed when the first is met."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words or ("agent=naive_append",)
        self._made: PlayerSpec | None = None

    @property
    def player(self) -> PlayerSpec:
        """Return the agent."""
        if self._made is None:
            self._made = reader(self._words)
        return self._made


def _found(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not journal.exists(path):
            raise RunFolderError(f"{path}: no such file or folder")
        here = journals(path) if path.is_dir() else [path] if is_journal(path) else []
        if not here:
            raise RunFolderError(f"{path}: contains no journal; pass a run, a sweep or a *.journal.jsonl")
        found += here
    return found


def _admitted(paths: Iterable[Path], filters: Filters, made: Exported) -> Iterator[_Played]:
    for path in paths:
        episode = read_episode(path)
        if episode is None:
            made.unfinished += 1
        elif not filters.admits(episode):
            made.filtered += 1
        else:
            yield _Played(path, episode)


def _samples(path: Path, readers: _Readers) -> list[Sample]:
    """Return the segments of an episode."""
    recording = journal.read(path)
    samples: list[Sample] = []
    collector = SampleCollector(samples.append)
    if is_bots(recording):
        asyncio.run(as_dialogue(path, recording, readers.player, collector))
    else:
        asyncio.run(replay(path, collector))
    collector.finish()
    return samples


def _dialogues(
    played: Iterable[_Played], readers: _Readers, filters: Filters, made: Exported, weighted: bool
) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for path, episode in played:
        made.episodes += 1
        for sample in _samples(path, readers):
            _mark(sample, episode, filters, seen, made)
            trained = sample.trained
            if not trained:
                continue
            made.answers += len(trained)
            if weighted:
                yield {"messages": list(as_chat(sample.messages, trained)), **_origin(sample, episode)}
            else:
                # Without weights a reader learns every answer, so the sample ends with the last good one.
                yield {"messages": list(as_chat(sample.messages[: trained[-1] + 1]))}


def _mark(sample: Sample, episode: Episode, filters: Filters, seen: set[str], made: Exported) -> None:
    last = _last_rise(episode) if filters.until_progress else None
    for decision in sample.decisions:
        if last is not None and decision.step >= last:
            decision.trained = False
        if decision.trained and not filters.duplicates:
            if decision.digest in seen:
                decision.trained = False
                made.duplicates += 1
            seen.add(decision.digest)


def _last_rise(episode: Episode) -> int:
    """Return after how many steps progression reached its maximum; 0 if it never rose."""
    best, steps = 0.0, 0
    for point in episode.curve:
        if point.progression > best:
            best, steps = point.progression, point.step
    return steps


def _origin(sample: Sample, episode: Episode) -> dict[str, Any]:
    return {
        "episode": episode.name,
        "seed": episode.game.seeds.core,
        "segment": sample.segment,
        "outcome": episode.outcome,
        "progression": episode.progression,
        "answers": len(sample.trained),
    }


class _Answer(NamedTuple):
    progression: float
    episode: str
    message: Message
    prompt: tuple[Message, ...]


def _preferences(played: Iterable[_Played], readers: _Readers, made: Exported) -> Iterator[dict[str, Any]]:
    games: dict[str, list[_Played]] = {}
    for each in played:
        game = msgspec.json.encode(each.episode.game, order="sorted").decode()
        games.setdefault(game, []).append(each)
    for episodes in games.values():
        made.episodes += len(episodes)
        if len(episodes) > 1:
            yield from _pairs(episodes, readers, made)


def _pairs(played: Sequence[_Played], readers: _Readers, made: Exported) -> Iterator[dict[str, Any]]:
    """Pair the answers of the best and the worst episode wherever both saw the same prompt."""
    answers: dict[str, list[_Answer]] = {}
    for path, episode in played:
        for sample in _samples(path, readers):
            for decision in sample.decisions:
                if decision.purpose == "act" and decision.trained:
                    place = decision.place
                    said = _Answer(
                        episode.progression, episode.name, sample.messages[place], sample.messages[:place]
                    )
                    answers.setdefault(decision.question, []).append(said)
    for given in answers.values():
        best = max(given, key=lambda answer: answer.progression)
        worst = min(given, key=lambda answer: answer.progression)
        both = {answer.message.text for answer in given if answer.progression == best.progression}
        if best.progression > worst.progression and worst.message.text not in both:
            made.answers += 1
            yield {
                "prompt": list(as_chat(best.prompt)),
                "chosen": list(as_chat([best.message])),
                "rejected": list(as_chat([worst.message])),
                "chosen_progression": best.progression,
                "rejected_progression": worst.progression,
                "episode": best.episode,
            }


def check_outcomes(names: Sequence[str], known: Iterable[str]) -> frozenset[str]:
    """Return outcomes by name; an unknown one is an error."""
    allowed = sorted(known)
    for name in names:
        if name not in allowed:
            raise ConfigError(f"--outcome {name}: unknown; use one of {', '.join(allowed)}")
    return frozenset(names)
