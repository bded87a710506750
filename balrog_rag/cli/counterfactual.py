"""`python -m balrog_rag.counterfactual RUN`: at how many steps did retrieval change the action?

Replays episodes to sampled steps and asks the model there without reference text, and once more with
it; both cost model calls.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.cli.command_line import Parser, called, ended
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.terminal_safe import terminal_safe

if TYPE_CHECKING:
    from balrog_rag.contracts.events import Event
    from balrog_rag.episode.journal import Recording
    from balrog_rag.episode.spec import EpisodeSpec
    from balrog_rag.results.asked_again import AskedAgain, Counterfactual
    from balrog_rag.run.services import LiveServices


def main(arguments: list[str] | None = None) -> int:
    """Run the command; a mistake is one line on stderr."""
    made = Parser(prog=called("counterfactual"), description=__doc__)
    made.add_argument("run", type=Path, metavar="RUN", help="run folder of an agent with retrieval")
    made.add_argument(
        "--sample", type=int, default=30, metavar="N", help="steps to ask about (default: %(default)s)"
    )
    made.add_argument("--seed", type=int, default=0, help="which steps are drawn (default: %(default)s)")
    made.add_argument("--json", action="store_true", help="every step asked about, as one JSON object")
    made.add_argument("--trust", action="store_true", help="though somebody else made the run folder")
    options = made.parse_args(arguments)
    return ended(
        lambda: counterfactual(options.run, options.sample, options.seed, options.json, options.trust)
    )


def counterfactual(run: Path, count: int, seed: int, as_json: bool, trust: bool = False) -> int:
    """Ask about the sampled steps, print what was found and keep it in the run folder."""
    from balrog_rag.results.asked_again import Counterfactual, keep, sample
    from balrog_rag.results.runs import load
    from balrog_rag.run.resume import resumed_config
    from balrog_rag.run.trust import refuse_stranger

    if count < 1:
        raise ConfigError(f"--sample {count}: must be 1 or more")
    places = sample(load(run), count, seed)
    refuse_stranger(run, resumed_config(run, []), [], trust)
    asked = asyncio.run(ask_all(run, places))
    found = Counterfactual(tuple(asked))
    keep(run, found)
    print(msgspec.json.encode(found).decode() if as_json else told(run, found))
    return 0


def told(run: Path, found: "Counterfactual") -> str:
    """The sentence, the steps at which an answer differed, and how to look at one."""
    from balrog_rag.results.run_folder import journal_path

    differing = [one for one in found.asked if one.differs]
    lines = [found.sentence, *(terminal_safe(one.line) for one in differing)]
    if differing:
        first = differing[0]
        path = journal_path(run, first.episode)
        lines.append(f"look at one: python -m balrog_rag.episode show {path} --step {first.step}")
    return "\n".join(lines)


async def ask_all(run: Path, places: list[tuple[Path, int]]) -> "list[AskedAgain]":
    """Each place twice, one after the other."""
    from balrog_rag.run.services import LiveServices

    services = LiveServices()
    try:
        return [await ask(services, run, path, at) for path, at in places]
    finally:
        await services.close()


async def ask(services: "LiveServices", run: Path, path: Path, at: int) -> "AskedAgain":
    """One place: without reference text, then with it."""
    from balrog_rag.cli.fork import planned_spec
    from balrog_rag.contracts.errors import JournalError
    from balrog_rag.episode import journal
    from balrog_rag.results.asked_again import AskedAgain

    recording = journal.read(path)
    if recording.header is None:
        raise JournalError(f"{path}: holds no whole header; nothing can be played")
    done = recording.steps[at].taken
    spec = planned_spec(run, path, recording.header)
    without = await act(services, recording, without_retrieval(spec, at), at)
    # The agent itself goes on from its record: one that took over here would lack what it was shown before.
    again = await act(services, recording, spec, at)
    return AskedAgain(spec.episode, at, done, without.taken, again.taken, again.took.less(without.took))


def without_retrieval(spec: "EpisodeSpec", at: int) -> "EpisodeSpec":
    """The episode, from step `at` on with the same player, who looks nothing up any more."""
    from balrog_rag.episode.spec import Fork

    player = spec.player_at(at)
    agent = {**player.agent, "retrieval": {**player.agent["retrieval"], "enabled": False}}
    earlier = [fork for fork in spec.forks if fork.at < at]
    fork = Fork(at, msgspec.structs.replace(player, agent=agent))
    return msgspec.structs.replace(spec, forks=(*earlier, fork))


class CounterfactualProgress:
    """What was done last, and what the answers took that were not recorded."""

    def __init__(self) -> None:
        """Nothing yet."""
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
    """What the player of step `at` does there, everything before it as recorded."""
    from balrog_rag.episode.effects import JournalCursor
    from balrog_rag.episode.journal import Recording, Step, Writer
    from balrog_rag.episode.play import EpisodeContext, play
    from balrog_rag.run.replay import Unmetered
    from balrog_rag.workers.inline import InlineGames

    spec = msgspec.structs.replace(spec, steps=at + 1)
    steps = [place for place, entry in enumerate(recording.entries) if isinstance(entry, Step)]
    before = recording.entries[: steps[at - 1] + 1 if at else 1]
    seen = CounterfactualProgress()
    game = await InlineGames().open(spec.game)
    try:
        with tempfile.TemporaryDirectory() as place, Writer(Path(place) / "journal") as writer:
            await play(
                EpisodeContext(
                    spec, game, JournalCursor(Recording(None, before), writer), services, Unmetered(), seen
                )
            )
    finally:
        await game.close()
    return seen
