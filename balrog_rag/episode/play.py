"""The play loop: the one piece of code that turns a spec and its effects into an episode.

Live play, resume, replay, verification and fork are the same loop over a journal: recorded entries are
taken and checked, missing ones are produced and recorded.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec

from balrog_rag.contracts import validation
from balrog_rag.contracts.behaviour import (
    LLM,
    Agent,
    Knowledge,
    Meter,
    Model,
    Retriever,
    RunningGame,
    Watcher,
)
from balrog_rag.contracts.blame import as_written, blame_of
from balrog_rag.contracts.data import Call, Decision, Observation, ProgramPlayer, TaskView, Transition
from balrog_rag.contracts.errors import BalrogError, LimitReached, PlayerFailed, PluginError, ReplayError
from balrog_rag.contracts.events import Ended, Event, Started, Stepped
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import PLAYER_LOST, Outcome
from balrog_rag.episode.effects import (
    EndOfJournal,
    Fit,
    JournalCursor,
    JournaledKnowledge,
    JournaledLLM,
    StepCursor,
    Stopped,
)
from balrog_rag.episode.journal import End, Start, Step, changed_numbers, difference
from balrog_rag.episode.renamed_player import RenamedAgent, RenamedKnowledge, RenamedLLM, renamed_view
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.episode.taken_actions import accepted_action, as_text, recorded_action

BURST = 4096
"""Most presses of a program that plays the episode between two journal entries."""
SHARE_OF_TIME = 20
"""The part of the remaining game time, as one in so many turns, that a burst may have presses for."""
RUN_AHEAD = 64
"""Most recorded actions that a game plays in one batch during a replay."""


class Services(Protocol):
    """Makes agents, models and indexes from a player's settings; the play loop knows none of them."""

    def agent(
        self, player: PlayerSpec, view: TaskView, llm: LLM, knowledge: Knowledge, seed: int, since: int
    ) -> Agent:
        """Make an agent, or a program that takes over at step `since`, seeded with `seed`."""
        ...

    def model(self, player: PlayerSpec) -> Model | None:
        """Return the live model; None if the journal is only replayed."""
        ...

    def retriever(self, player: PlayerSpec) -> Retriever | None:
        """Return the live knowledge base; None if there is none."""
        ...

    def runs(self, player: ProgramPlayer) -> bool:
        """Whether a recorded program may run again; if not, its recorded keys are sent instead."""
        ...

    def fit(self, player: PlayerSpec) -> Fit:
        """Return the function that trims prompts to the model's limit."""
        ...


class _WatcherGuard:
    """Forwards events and remembers what the watcher raised while an agent awaited an answer."""

    failure: Exception | None = None

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def see(self, event: Event) -> None:
        """Forward an event."""
        try:
            self._watcher.see(event)
        except Exception as error:  # recorded, so that an agent is not blamed for its watcher's error
            self.failure = error
            raise


class EpisodeContext:
    """One running episode: the game, its journal, its services and its watcher."""

    def __init__(
        self,
        spec: EpisodeSpec,
        game: RunningGame,
        cursor: JournalCursor,
        services: Services,
        meter: Meter,
        watcher: Watcher,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """`stopping` is called before every step that is not in the journal."""
        self.spec, self.game, self.cursor = spec, game, cursor
        self.services, self.meter, self.watcher = services, meter, _WatcherGuard(watcher)
        self.at = StepCursor(spec.episode, stopping)
        self._ahead: list[tuple[str | Call, Transition]] = []
        self._begun = time.monotonic()
        self._clock = kind_of(spec.game.env).hints.signals.clock
        self._until: int | None = None
        self._names = kind_of(spec.game.env).hints.renaming(spec.game)

    def remaining(self, numbers: Mapping[str, int]) -> int | None:
        """Return how much of the game's own time is left, if the episode ends at a time."""
        now = self._clock(numbers)
        return None if now is None or self._until is None else max(0, self._until - now)

    def start_clock(self, numbers: Mapping[str, int]) -> None:
        """Begin to count the game's own time, if the spec limits it."""
        now = self._clock(numbers)
        if now is not None and self.spec.turns is not msgspec.UNSET:
            self._until = now + self.spec.turns

    def replaced(self, n: int) -> bool:
        """Whether another player has taken over, in the journal, from the one who decides at step `n`."""
        return any(n < fork.at <= self.cursor.recorded for fork in self.spec.forks)

    def seconds(self) -> float:
        """Return how long this attempt has taken; for the record only: prompts must not depend on time."""
        return time.monotonic() - self._begun

    def make_agent(self, player: PlayerSpec) -> Agent:
        """Make an agent for this player, with its two handles."""
        fit = self.services.fit(player)
        # All answers and searches of a player that was replaced are in the journal.
        live = not self.replaced(self.at.step)
        model = self.services.model(player) if live else None
        retriever = self.services.retriever(player) if live else None
        llm: LLM = JournaledLLM(model, self.cursor, self.meter, self.at, fit, self.watcher)
        knowledge: Knowledge = JournaledKnowledge(retriever, self.cursor, self.at, self.watcher)
        seed, since, view, names = self.spec.game.seeds.core, self.at.step, self.game.view, self._names
        if names is not None:
            llm, knowledge = RenamedLLM(llm, names), RenamedKnowledge(knowledge, names)
            view = renamed_view(view, names)
        with self._blaming(player, "cannot be made with (config, view, llm, knowledge):"):
            agent = self.services.agent(player, view, llm, knowledge, seed, since)
        return agent if names is None else RenamedAgent(agent, names, view)

    async def decide(self, agent: Agent, observation: Observation) -> Decision:
        """Return the agent's decision; any error of agent code becomes one line."""
        player = self.spec.player_at(self.at.step)
        with self._blaming(player, "raised"):
            decision = await agent.act(observation)
        return self._valid(decision, f"{self.at.where()}: agent {player.agent.get('name')!r}")

    def _valid(self, decision: Decision, who: str) -> Decision:
        try:
            return validation.decision(decision, who, "act()")
        except PluginError as error:
            line = f"{error}; the episode stays as journaled and can be resumed"
            raise PlayerFailed(line, str(error).removeprefix(f"{self.at.where()}: ")) from error

    @contextmanager
    def _blaming(self, player: PlayerSpec, what: str) -> Iterator[None]:
        """Turn any error raised by agent code into one line; our own errors pass unchanged."""
        try:
            yield
        except (BalrogError, LimitReached, EndOfJournal, Stopped):
            raise
        except Exception as error:  # an agent plug-in can raise anything
            if error is self.watcher.failure:
                raise  # the watcher's error, such as a closed stdout
            name = f"agent {player.agent.get('name')!r}"
            raise PlayerFailed(
                f"{self.at.where()}: {name} {what} {type(error).__name__}: {error}; "
                "the episode stays as journaled and can be resumed",
                *blame_of(error, f"{name} {what}"),
            ) from error

    async def step(self, action: str | Call) -> Transition:
        """Play an accepted action; during a replay the game plays the next recorded ones in the same call."""
        if not self._ahead:
            actions = [
                recorded_action(self.game.view, each) for each in self.cursor.upcoming_steps(RUN_AHEAD)
            ]
            if [as_text(each) for each in actions[:1]] != [as_text(action)]:
                self._refuse_code(action)
                # The agent deviates from the journal: play its action alone and let `record` report where.
                actions = [action]
            transitions = await self.game.play(actions)
            self._ahead = list(zip(actions, transitions, strict=False))[::-1]
        ahead, transition = self._ahead.pop()
        if as_text(ahead) != as_text(action):
            wanted, recorded = as_text(action), as_text(ahead)
            raise ReplayError(f"{self.at.where()}: the agent wants {wanted!r}, the journal has {recorded!r}")
        return transition

    def _refuse_code(self, action: str | Call) -> None:
        """Refuse to run code that a replay comes to but the journal does not have."""
        if not isinstance(action, Call) or action.repeated is not None:
            return
        runs = any(each.name == action.name and each.runs_code for each in self.game.view.programs)
        if runs and self.cursor.replaying:
            raise ReplayError(f"{self.at.where()}: the agent wants other code than the journal has")
        if runs and not self.cursor.live:
            raise EndOfJournal

    async def burst(self, player: ProgramPlayer, n: int, before: Mapping[str, int]) -> Transition:
        """Let a program press keys for a while: as many as recorded, or up to the next limit."""
        # A burst must end at a fork or at the step limit, because somebody else decides from there.
        bounds = [self.spec.steps, *(fork.at for fork in self.spec.forks if fork.at > n)]
        most = min([bound - n for bound in bounds if bound], default=BURST)
        if (left := self.remaining(before)) is not None:
            # A press can take several turns, so the last turns are played in ever shorter bursts.
            most = min(most, max(1, left // SHARE_OF_TIME))
        recorded = self.cursor.upcoming_burst()
        # A player that a recorded fork replaces does not continue, so its keys are enough; its program may
        # have been improved since. Otherwise the program itself runs, and `record` compares what it pressed.
        if recorded is not None and not self.replaced(n) and self.services.runs(player):
            recorded = msgspec.structs.replace(recorded, keys=())
        try:
            return await self.game.run(player, min(most, BURST), recorded)
        except PlayerFailed as failed:  # a worker does not know how the user wrote the program's path
            line = as_written(failed.blame)
            raise PlayerFailed(line, line, failed.trace) from failed

    def accepted(self, decision: Decision) -> str | Call:
        """Return the decided action, or the default action if the game does not accept it."""
        return accepted_action(self.game.view, decision)


async def play(context: EpisodeContext) -> End:
    """Play an episode to its end, or to the end of a journal that may not go live."""
    observation = begin(context)
    agent = context.make_agent(context.spec.player)
    forks = {fork.at: fork.player for fork in context.spec.forks}
    turns: list[tuple[Observation, Decision]] = []
    n = 0
    while True:
        context.at.step = n
        if not context.cursor.replaying:
            context.at.check()
        if n in forks:
            agent = take_over(context, forks[n], turns)
        if n == max(forks, default=0):
            context.start_clock(observation.numbers)
        try:
            decision = await context.decide(agent, observation)
        except LimitReached as limit:
            return finish(context, End(limit.limit, n, of_run=limit.of_run))
        # Only forks read the past turns; keeping them always would hold every screen of a long episode.
        if forks:
            turns.append((observation, decision))
        before = observation.numbers
        observation, transition = await take(context, agent, n, decision, before)
        n += transition.count
        over = (context.spec.steps and n >= context.spec.steps) or context.remaining(observation.numbers) == 0
        outcome = transition.ended or (Outcome.STEPS if over else "")
        if outcome:
            why = transition.stopped if outcome in PLAYER_LOST else ""
            return finish(context, End(outcome, n, dict(transition.end)), why)


def begin(context: EpisodeContext) -> Observation:
    """Return the first observation, checked against the journal."""
    first = context.game.start.observation
    recorded = context.cursor.take(Start, context.spec.episode)
    if recorded is None:
        context.cursor.write(Start(first.digest, first.numbers))
    elif recorded.obs != first.digest:
        raise ReplayError(f"{context.spec.episode}: the game's first screen differs from the journal's")
    elif recorded.numbers != first.numbers:
        raise ReplayError(f"{context.spec.episode}: the game's first numbers differ from the journal's")
    context.watcher.see(Started(context.spec.episode, first))
    return first


def take_over(
    context: EpisodeContext, player: PlayerSpec, turns: Sequence[tuple[Observation, Decision]]
) -> Agent:
    """Make the agent of a fork and let it recall the turns played so far."""
    agent = context.make_agent(player)
    for observation, decision in turns:
        agent.recall(observation, decision)
    return agent


async def take(
    context: EpisodeContext, agent: Agent, n: int, decision: Decision, before: Mapping[str, int]
) -> tuple[Observation, Transition]:
    """Take the decided action, or the default if it is invalid; journal the result or check it."""
    if decision.player is not None:
        transition, taken = await context.burst(decision.player, n, before), decision.action
    else:
        action = context.accepted(decision)
        transition, taken = await context.step(action), as_text(action)
    taken = transition.instead or taken
    valid = taken == decision.action
    record(context, n, decision, taken, valid, before, transition)
    # The notice is added after journaling: the recorded digest is that of the game's screen alone.
    after = transition.observation
    if not valid:
        after = msgspec.structs.replace(after, notice=invalid_notice(agent, taken))
    elif transition.stopped:
        after = msgspec.structs.replace(after, notice=stopped_notice(taken, transition.stopped))
    return after, transition


def record(
    context: EpisodeContext,
    n: int,
    decision: Decision,
    taken: str,
    valid: bool,
    before: Mapping[str, int],
    transition: Transition,
) -> None:
    """Journal a step, or check it against the journal."""
    after = transition.observation
    step = Step(
        n,
        decision.action,
        taken,
        after.digest,
        valid,
        transition.reward,
        transition.keys,
        changed_numbers(before, after.numbers),
        decision.notes,
        transition.stopped,
        transition.pressed,
        transition.rises,
        transition.commands,
        transition.by_press,
    )
    recorded = context.cursor.take(Step, context.at.where())
    if recorded is not None and not recorded.by_press:  # journals from before per-press scoring
        step = msgspec.structs.replace(step, rises=(), by_press=False)
    if recorded is None:
        context.cursor.write(step)
    elif recorded != step:
        raise ReplayError(f"{context.at.where()}: {difference(recorded, step)}")
    context.watcher.see(Stepped(context.spec.episode, n, decision, taken, transition))


def invalid_notice(agent: Agent, taken: str) -> str:
    """Return the notice after an answer without a valid action; an agent may word it itself."""
    own: Callable[[str], str] | None = getattr(agent, "invalid_notice", None)
    return (
        own(taken) if own else f"Your last answer held no valid action, so the default was taken: {taken}\n\n"
    )


def stopped_notice(taken: str, stopped: str) -> str:
    """Return the notice shown after a program has played for the agent."""
    return f"Your last action, {taken}, stopped: {stopped}.\n\n"


def finish(context: EpisodeContext, end: End, why: str = "") -> End:
    """Journal the end, or check it against the journal; `why` says how the program that played failed."""
    recorded = context.cursor.take(End, context.at.where())
    if recorded is None:
        context.cursor.write(msgspec.structs.replace(end, seconds=context.seconds()))
    elif (recorded.outcome, recorded.steps) != (end.outcome, end.steps):
        raise ReplayError(
            f"{context.at.where()}: ends with {end.outcome} after {end.steps} steps, "
            f"the journal has {recorded.outcome} after {recorded.steps}"
        )
    # The kind decides which facts a replay must reproduce; wall time is never compared.
    elif (comparable := kind_of(context.spec.game.env).retrospect.comparable)(recorded.facts) != comparable(
        end.facts
    ):
        raise ReplayError(f"{context.at.where()}: the facts of the end differ from the journal's")
    context.watcher.see(Ended(context.spec.episode, end.outcome, end.steps, end.how or why))
    return end
