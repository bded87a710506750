"""`balrog-rag counterfactual RUN`: at how many steps did retrieval change the action?

Replays episodes to sampled steps and asks the model there without reference text, and once more with it;
both cost model calls.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.cli.command_line import Parser, called, ended
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.shell_commands import command
from balrog_rag.util.terminal_safe import terminal_safe

if TYPE_CHECKING:
    from balrog_rag.contracts.events import Event
    from balrog_rag.episode.journal import Entry, Recording
    from balrog_rag.episode.spec import EpisodeSpec
    from balrog_rag.results.asked_again import AskedAgain, Counterfactual
    from balrog_rag.results.stored_run import StoredRun
    from balrog_rag.run.services import LiveServices


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    made = Parser(prog=called("counterfactual"), description=__doc__)
    made.add_argument("run", type=Path, metavar="RUN", help="run folder of an agent with retrieval")
    made.add_argument(
        "--sample", type=int, default=30, metavar="N", help="number of steps to sample (default: %(default)s)"
    )
    made.add_argument("--seed", type=int, default=0, help="seed of the sample (default: %(default)s)")
    made.add_argument("--json", action="store_true", help="print all sampled steps as one JSON object")
    made.add_argument("--trust", action="store_true", help="accept a run folder that somebody else created")
    options = made.parse_args(arguments)
    return ended(
        lambda: counterfactual(options.run, options.sample, options.seed, options.json, options.trust)
    )


def counterfactual(run: Path, count: int, seed: int, as_json: bool, trust: bool = False) -> int:
    """Ask about the sampled steps, print the result and store it in the run folder."""
    from balrog_rag.results.asked_again import Counterfactual, keep, sample
    from balrog_rag.results.runs import load
    from balrog_rag.results.stored_run import read_run
    from balrog_rag.run.resume import resumed_config
    from balrog_rag.run.trust import refuse_untrusted_folder

    if count < 1:
        raise ConfigError(f"--sample {count}: must be 1 or more")
    places = sample(load(run), count, seed)
    stored = read_run(run)
    refuse_untrusted_folder(stored, resumed_config(stored, []), [], trust)
    asked = asyncio.run(ask_all(stored, places))
    found = Counterfactual(tuple(asked))
    keep(run, found)
    print(msgspec.json.encode(found).decode() if as_json else report_text(run, found))
    return 0


def report_text(run: Path, found: "Counterfactual") -> str:
    """Format the sentence, the steps at which an answer differed, and how to view one."""
    from balrog_rag.results.run_folder import journal_path

    differing = [one for one in found.asked if one.differs]
    lines = [found.sentence, *(terminal_safe(one.line) for one in differing)]
    if differing:
        first = differing[0]
        path = journal_path(run, first.episode)
        lines.append(f"view one: {command('show', path, '--step', first.step)}")
    return "\n".join(lines)


async def ask_all(stored: "StoredRun", places: list[tuple[Path, int]]) -> "list[AskedAgain]":
    """Ask at each place twice, in order."""
    from balrog_rag.run.services import LiveServices

    services = LiveServices()
    try:
        return [await ask(services, stored, path, at) for path, at in places]
    finally:
        await services.close()


async def ask(services: "LiveServices", stored: "StoredRun", path: Path, at: int) -> "AskedAgain":
    """Ask at one place: without reference text, then with it."""
    from balrog_rag.episode import journal
    from balrog_rag.results.asked_again import AskedAgain
    from balrog_rag.run.fork_plan import planned_spec

    header, recording = journal.read_headed(path)
    done = recording.steps[at].taken
    spec = planned_spec(stored, path, header)
    without = await act(services, recording, without_retrieval(spec, at), at)
    # The recorded agent continues: a new one that started here would lack its history.
    again = await act(services, recording, spec, at)
    return AskedAgain(spec.episode, at, done, without.taken, again.taken, again.took.less(without.took))


def without_retrieval(spec: "EpisodeSpec", at: int) -> "EpisodeSpec":
    """The episode with retrieval turned off for the same player from step `at` on."""
    from balrog_rag.episode.spec import Fork

    player = spec.player_at(at)
    agent = {**player.agent, "retrieval": {**player.agent["retrieval"], "enabled": False}}
    earlier = [fork for fork in spec.forks if fork.at < at]
    fork = Fork(at, msgspec.structs.replace(player, agent=agent))
    return msgspec.structs.replace(spec, forks=(*earlier, fork))


class Unkept:
    """Discards new entries: the answer at the sampled step is all that is wanted."""

    def append(self, entry: "Entry") -> None:
        """Discard an entry."""

    async def settle(self) -> None:
        """Return at once."""


class CounterfactualProgress:
    """The last action, and the cost of answers that were not recorded."""

    def __init__(self) -> None:
        """Start empty."""
        from balrog_rag.results.asked_again import StepCost

        self.taken, self.took = "", StepCost()

    def see(self, event: "Event") -> None:
        """Count an answer, remember an action."""
        from balrog_rag.contracts.events import Answered, Stepped

        if isinstance(event, Stepped):
            self.taken = event.taken
        elif isinstance(event, Answered) and event.live:
            self.took = self.took.plus(event.reply)


async def act(
    services: "LiveServices", recording: "Recording", spec: "EpisodeSpec", at: int
) -> CounterfactualProgress:
    """Return the player's action at step `at`, with everything before it as recorded."""
    from balrog_rag.episode.effects import JournalCursor
    from balrog_rag.episode.journal import Recording, Step
    from balrog_rag.episode.play import EpisodeContext, play
    from balrog_rag.run.replay import Unmetered
    from balrog_rag.workers.inline import InlineGames

    spec = msgspec.structs.replace(spec, steps=at + 1)
    steps = [place for place, entry in enumerate(recording.entries) if isinstance(entry, Step)]
    before = recording.entries[: steps[at - 1] + 1 if at else 1]
    seen = CounterfactualProgress()
    game = await InlineGames().open(spec.game)
    try:
        cursor = JournalCursor(Recording(None, before), Unkept())
        await play(EpisodeContext(spec, game, cursor, services, Unmetered(), seen))
    finally:
        await game.close()
    return seen
