"""Build an Episode in one pass over a journal.

This is the only place that converts a journal's lines to scores; the journal itself decides which lines are
valid.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.data import Reply, Rise
from balrog_rag.contracts.errors import BalrogError, JournalError, PluginError
from balrog_rag.contracts.kinds import kind_of, value_of
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion, End, Entry, Header, Lookup, Start, Step
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.episodes import Calls, Episode, Point


def read_episode(path: Path, entries: Iterable[Entry] | None = None) -> Episode | None:
    """Read a journal, or its entries if they were read already; None if the episode has not ended.

    A game that a client or a person began and did not finish counts as given up.
    Raises JournalError for an invalid line, or if the episode cannot be scored.
    """
    tally: _Tally | None = None
    for entry in journal.entries_of(path) if entries is None else entries:
        try:
            if isinstance(entry, Header):
                tally = _Tally(entry)
            elif tally is not None:
                tally.take(entry)
        except PluginError as error:
            if tally is None:  # there is no such kind of game here
                raise
            raise JournalError(f"{path}: cannot be scored: {error}") from error
        except BalrogError:
            raise
        except Exception as error:
            raise JournalError(
                f"{path}: cannot be scored: {blame_of(error, 'its kind of game:').line}"
            ) from error
    if tally is not None and tally.left_behind:
        tally.give_up()
    return tally.episode if tally is not None and tally.ended else None


class _Tally:
    """Accumulates one journal, line by line."""

    def __init__(self, header: Header) -> None:
        spec, player = header.spec, header.spec.last_player
        self.episode = Episode(
            spec.episode, spec.game, player.agent, player.model, player.knowledge,
            header.spec_digest, header.config_digest, forked=_before(spec),
        )  # fmt: skip
        self.ended = False
        self._own_loop = player.model.get("backend") == "client"
        self._begun = False
        self._steps = 0
        self._tokens = 0
        self._dollars = 0.0
        self._queries: set[str] = set()
        self._searched = self._acted = -1
        self._asks = (player.agent.get("retrieval") or {}).get("when") == "asked"
        self._kind = kind_of(spec.game.env)
        self._progress = self._kind.progress(spec.game)
        self._sparse = header.v <= journal.SPARSE
        self._following = {
            measure.name: measure.follow()
            for measure in self._kind.scoring.measures
            if measure.follow is not None
        }

    @property
    def left_behind(self) -> bool:
        """Whether it was played from outside the harness, and neither finished nor given up."""
        return self._own_loop and self._begun and not self.ended

    def give_up(self) -> None:
        """End it with the progression it had."""
        self._end(End(Outcome.GIVEN_UP, self._steps))

    def take(self, entry: journal.Event) -> None:
        """Count an entry."""
        if isinstance(entry, Step):
            self._step(entry)
        elif isinstance(entry, Completion):
            self._completion(entry)
        elif isinstance(entry, Lookup):
            self._lookup(entry)
        elif isinstance(entry, Start):
            self._begun = True
            self._see(entry.numbers, 0.0, 0)
        else:
            self._end(entry)

    def _step(self, line: Step) -> None:
        episode = self.episode
        self._steps += line.count
        episode.keys += line.keys
        episode.total_reward += line.reward
        for action in line.pressed or (line.taken,):
            episode.actions[str(action)] = episode.actions.get(str(action), 0) + 1
        if not line.valid:
            episode.invalid += 1
            episode.failed_candidates.append(line.action)
        if line.notes:
            self._notes(line.notes)
        for rise in line.rises:
            self._rise(rise)
        if line.numbers or line.reward or line.rises:
            gap = self._sparse and len(line.pressed) > 1
            self._see(line.numbers, 0.0 if line.by_press else line.reward, self._steps, gap=gap)

    def _rise(self, rise: Rise) -> None:
        """Process a press within a step; the numbers after the step, which may be lower, follow later."""
        if not self._kind.display.blank(rise.numbers):
            self._progress.see(rise.numbers, rise.reward, "")

    def _notes(self, notes: Mapping[str, Any]) -> None:
        """Process the agent's notes on its step: how its answer was parsed, and the result of a look-up."""
        for name, counted in (("read", self.episode.readings), ("lookup", self.episode.lookups.ends)):
            value = notes.get(name)
            if isinstance(value, str):
                counted[value] = counted.get(value, 0) + 1
        self.episode.loops += notes.get("loop") is True
        segment = notes.get("segment")
        if isinstance(segment, int) and self.episode.segments < segment <= self._steps + 1:
            self.episode.segments = segment

    def _see(
        self, moved: Mapping[str, int], reward: float, step: int, ended: str = "", gap: bool = False
    ) -> None:
        """Update the numbers that changed, and record a new maximum height."""
        last, most = self.episode.last, self.episode.most
        if self._kind.display.blank(moved):
            return
        for name, number in moved.items():
            last[name] = number
            if number > most.get(name, 0):
                most[name] = number
        if moved:
            for following in self._following.values():
                following.see(last, gap)
            self._note_height()
        self._progress.see(last, reward, ended)
        value = value_of(self._progress, self._kind)
        risen = value > self.episode.progression
        if risen or ended:
            self.episode.progression = value
        if risen:
            self._mark(step)

    def _note_height(self, at_end: bool = False) -> None:
        """Append a point whenever a new maximum is reached, and at the end."""
        line, last, course = self._kind.display.timeline, self.episode.last, self.episode.course
        if line is None or line.clock not in last:
            return
        height = max(last[line.height], course[-1][1] if course else 0)
        if at_end or not course or height > course[-1][1]:
            course.append((last[line.clock], height))

    def _mark(self, step: int) -> None:
        point = Point(step, self._tokens, self._dollars, self.episode.progression)
        self.episode.curve.append(point)

    def _completion(self, line: Completion) -> None:
        reply, usage = line.reply, line.reply.usage
        dollars = reply.cost or 0.0
        self._tokens += usage.input + usage.output
        self._dollars += dollars
        _add(self.episode.calls.setdefault(line.purpose, Calls()), reply)
        if reply.model and reply.model not in self.episode.answered_by:
            self.episode.answered_by.append(reply.model)
        if reply.fingerprint and reply.fingerprint not in self.episode.fingerprints:
            self.episode.fingerprints.append(reply.fingerprint)
        if line.purpose == "act":
            if self._asks and self._acted == line.step:
                _add(self.episode.asked_again, reply)
            self._acted = line.step

    def _lookup(self, line: Lookup) -> None:
        lookups = self.episode.lookups
        self._queries.add(line.query)
        lookups.count += 1
        lookups.hits += bool(line.passages)
        lookups.passages += len(line.passages)
        lookups.queries = len(self._queries)
        lookups.steps += line.step != self._searched
        lookups.seconds += line.latency
        self._searched = line.step

    def _end(self, line: End) -> None:
        episode = self.episode
        self.ended = True
        episode.outcome, episode.steps, episode.cut = line.outcome, line.steps, line.of_run
        episode.facts = line.facts
        self._see({}, 0.0, self._steps, line.outcome)
        self._note_height(at_end=True)
        episode.followed = {name: each.result(line.facts) for name, each in self._following.items()}
        episode.highest = self._progress.reached or None
        episode.milestones = dict(self._progress.milestones())
        self._mark(self._steps)


def _before(spec: EpisodeSpec) -> str:
    """Describe who decided the steps before the last player's, e.g. 'naive / gpt-4o to step 30'."""
    players = [spec.player, *[fork.player for fork in spec.forks]]
    return ", ".join(
        f"{player.agent.get('name')} / {player.model.get('name')} to step {fork.at}"
        for player, fork in zip(players, spec.forks, strict=False)
    )


def _add(calls: Calls, reply: Reply) -> None:
    """Count an answer."""
    usage = reply.usage
    calls.count += 1
    calls.input += usage.input
    calls.output += usage.output
    calls.cached += usage.cached
    calls.reasoning += usage.reasoning
    calls.dollars += reply.cost or 0.0
    calls.unpriced += reply.cost is None
    calls.seconds += reply.latency
    calls.repeats += reply.attempts - 1
    calls.empty += not reply.text
    calls.cut += reply.finish == "length"
    calls.trimmed += reply.trimmed > 0
    calls.uncounted += not usage.known
