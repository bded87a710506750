"""The play loop: the one piece of code that turns a spec and its effects into an episode.

Live play, resume, replay, verification and fork are the same loop over a tape: what is recorded is
taken and checked, what is not is done and recorded.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from balrog_rag.contracts.behaviour import LLM, Agent, Game, Knowledge, Meter, Model, Retriever, Watcher
from balrog_rag.contracts.data import Decision, Observation, Player, TaskView, Transition
from balrog_rag.contracts.errors import BalrogError, LimitReached, PluginError, ReplayError
from balrog_rag.contracts.events import Ended, Started, Stepped
from balrog_rag.episode.effects import Clock, Fit, JournaledKnowledge, JournaledLLM, Stopped, Tape, TapeEnd
from balrog_rag.episode.journal import End, Start, Step, moved
from balrog_rag.episode.outcome import Outcome
from balrog_rag.episode.spec import Cast, EpisodeSpec

BURST = 4096
"""Presses of a program that plays the episode before they are journaled."""
RUN_AHEAD = 64
"""Recorded actions a game plays in one go while a tape is replayed."""


class Studio(Protocol):
    """Makes what a cast names; the play loop itself knows no agent, model or index."""

    def agent(
        self, cast: Cast, view: TaskView, llm: LLM, knowledge: Knowledge, seed: int, since: int
    ) -> Agent:
        """A fresh agent, or a program that plays from step `since` on with dice of this seed."""
        ...

    def model(self, cast: Cast) -> Model | None:
        """The model that answers live; None where only the tape is played."""
        ...

    def retriever(self, cast: Cast) -> Retriever | None:
        """The knowledge base searched live."""
        ...

    def fit(self, cast: Cast) -> Fit:
        """How a prompt is made to fit."""
        ...


class Stage:
    """One episode being played: the game, its tape, and everybody who takes part."""

    def __init__(
        self,
        spec: EpisodeSpec,
        game: Game,
        tape: Tape,
        studio: Studio,
        meter: Meter,
        watcher: Watcher,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """`stopping` is asked before every step that is not on the tape."""
        self.spec, self.game, self.tape = spec, game, tape
        self.studio, self.meter, self.watcher = studio, meter, watcher
        self.clock = Clock(spec.episode, stopping)
        self._ahead: list[tuple[str, Transition]] = []
        self._begun = time.monotonic()

    def seconds(self) -> float:
        """How long this attempt has taken; for the record, never for a prompt."""
        return time.monotonic() - self._begun

    def hire(self, cast: Cast) -> Agent:
        """An agent of this cast with its two handles."""
        fit = self.studio.fit(cast)
        llm = JournaledLLM(self.studio.model(cast), self.tape, self.meter, self.clock, fit, self.watcher)
        knowledge = JournaledKnowledge(self.studio.retriever(cast), self.tape, self.clock, self.watcher)
        seed, since = self.spec.game.seeds.core, self.clock.step
        return self.studio.agent(cast, self.game.view, llm, knowledge, seed, since)

    async def decide(self, agent: Agent, observation: Observation) -> Decision:
        """The agent's decision; whatever a foreign agent raises becomes one line."""
        try:
            return await agent.act(observation)
        except (BalrogError, LimitReached, TapeEnd, Stopped):
            raise
        except Exception as error:
            player = self.spec.player_at(self.clock.step).agent
            raise PluginError(
                f"{self.clock.where()}: agent {player.get('name')!r} raised "
                f"{type(error).__name__}: {error}; the episode stays as journaled and can be resumed"
            ) from error

    async def step(self, action: str) -> Transition:
        """What an accepted action leads to; the game runs ahead where the tape knows the next ones."""
        if not self._ahead:
            actions = [self.accepted(given) for given in self.tape.upcoming_actions(RUN_AHEAD)]
            if actions[:1] != [action]:
                actions = [action]
            transitions = await self.game.play(actions)
            self._ahead = list(zip(actions, transitions, strict=False))[::-1]
        ahead, transition = self._ahead.pop()
        if ahead != action:
            raise ReplayError(f"{self.clock.where()}: the agent wants {action!r}, the journal has {ahead!r}")
        return transition

    async def burst(self, player: Player, n: int) -> Transition:
        """What a program presses on its own for a while, as long as it was recorded or a little longer."""
        bounds = [self.spec.steps, *(fork.at for fork in self.spec.forks if fork.at > n)]
        most = min([bound - n for bound in bounds if bound], default=BURST)
        return await self.game.run(player, self.tape.upcoming_burst() or min(most, BURST))

    def accepted(self, action: str) -> str:
        """The action, or the default where the game takes no such thing."""
        view = self.game.view
        return action if view.takes(action) else view.default_action


async def play(stage: Stage) -> End:
    """Play an episode to its end, or to the end of a tape that may not go live."""
    observation = begin(stage)
    agent = stage.hire(stage.spec.cast)
    forks = {fork.at: fork.cast for fork in stage.spec.forks}
    turns: list[tuple[Observation, Decision]] = []
    n = 0
    while True:
        stage.clock.step = n
        if not stage.tape.replaying:
            stage.clock.check()
        if n in forks:
            agent = take_over(stage, forks[n], turns)
        try:
            decision = await stage.decide(agent, observation)
        except LimitReached as limit:
            return finish(stage, End(limit.limit, n))
        if forks:
            turns.append((observation, decision))
        before = observation.numbers
        observation, transition = await take(stage, n, decision, before)
        n += transition.count
        outcome = transition.ended or (Outcome.STEPS if stage.spec.steps and n >= stage.spec.steps else "")
        if outcome:
            return finish(stage, End(outcome, n, dict(transition.end)))


def begin(stage: Stage) -> Observation:
    """The first observation, checked against the tape."""
    first = stage.game.start.observation
    recorded = stage.tape.take(Start, stage.spec.episode)
    if recorded is None:
        stage.tape.write(Start(first.digest, first.numbers))
    elif recorded.obs != first.digest:
        raise ReplayError(f"{stage.spec.episode}: the game starts with another screen than the journal's")
    elif recorded.numbers != first.numbers:
        raise ReplayError(f"{stage.spec.episode}: the game starts with other numbers than the journal's")
    stage.watcher.see(Started(stage.spec.episode, first))
    return first


def take_over(stage: Stage, cast: Cast, turns: Sequence[tuple[Observation, Decision]]) -> Agent:
    """A new player who has been told what happened so far."""
    agent = stage.hire(cast)
    for observation, decision in turns:
        agent.recall(observation, decision)
    return agent


async def take(
    stage: Stage, n: int, decision: Decision, before: Mapping[str, int]
) -> tuple[Observation, Transition]:
    """Take the decided action, or the default where it is none; journal or check what came of it."""
    if decision.player is not None:
        transition, action = await stage.burst(decision.player, n), decision.action
    else:
        action = stage.accepted(decision.action)
        transition = await stage.step(action)
    taken = transition.instead or action
    valid = taken == decision.action
    record(stage, n, decision, taken, valid, before, transition)
    after = transition.observation
    if not valid:
        after = msgspec.structs.replace(after, notice=invalid_notice(taken))
    elif transition.stopped:
        after = msgspec.structs.replace(after, notice=stopped_notice(taken, transition.stopped))
    return after, transition


def record(
    stage: Stage,
    n: int,
    decision: Decision,
    taken: str,
    valid: bool,
    before: Mapping[str, int],
    transition: Transition,
) -> None:
    """Journal a step, or check it against the tape."""
    after = transition.observation
    step = Step(
        n,
        decision.action,
        taken,
        after.digest,
        valid,
        transition.reward,
        transition.keys,
        moved(before, after.numbers),
        msgspec.to_builtins(decision.notes),
        transition.stopped,
        transition.pressed,
    )
    recorded = stage.tape.take(Step, stage.clock.where())
    if recorded is None:
        stage.tape.write(step)
    elif recorded != step:
        raise ReplayError(f"{stage.clock.where()}: {difference(recorded, step)}")
    stage.watcher.see(Stepped(stage.spec.episode, n, decision, taken, transition))


def invalid_notice(taken: str) -> str:
    """What the agent reads next when its answer held no valid action."""
    return f"Your last answer held no valid action, so the default was taken: {taken}\n\n"


def stopped_notice(taken: str, stopped: str) -> str:
    """What the agent reads next when a program has played for it."""
    return f"Your last action, {taken}, stopped: {stopped}.\n\n"


def difference(recorded: Step, played: Step) -> str:
    """The first field in which a replayed step is not the recorded one."""
    for name in Step.__struct_fields__:
        old, new = getattr(recorded, name), getattr(played, name)
        if old != new:
            return f"{name} is {new!r}, the journal has {old!r}"
    return "the same"


def finish(stage: Stage, end: End) -> End:
    """Journal the end, or check it against the tape."""
    recorded = stage.tape.take(End, stage.clock.where())
    if recorded is None:
        stage.tape.write(msgspec.structs.replace(end, seconds=stage.seconds()))
    elif (recorded.outcome, recorded.steps) != (end.outcome, end.steps):
        raise ReplayError(
            f"{stage.clock.where()}: ends with {end.outcome} after {end.steps} steps, "
            f"the journal has {recorded.outcome} after {recorded.steps}"
        )
    elif comparable(recorded.facts) != comparable(msgspec.to_builtins(end.facts)):
        raise ReplayError(f"{stage.clock.where()}: the facts of the end are not the journal's")
    stage.watcher.see(Ended(stage.spec.episode, end.outcome, end.steps, end.how))
    return end


def comparable(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an end without what depends on the machine, and on its clock where that was not pinned."""
    logged = facts.get("xlogfile")
    if not isinstance(logged, Mapping):
        return dict(facts)
    left_out = OF_THE_MACHINE if facts.get("clock_pinned") else OF_THE_MACHINE | OF_ITS_CLOCK
    kept = {name: value for name, value in logged.items() if name not in left_out}
    return {**facts, "xlogfile": kept}


OF_THE_MACHINE = {"uid"}
OF_ITS_CLOCK = {"realtime", "starttime", "endtime", "birthdate", "deathdate"}
"""Fields of NetHack's log line that a replay need not repeat."""
