"""The play loop of a policy: it plays next to the environment, in bursts, and its steps are journaled.

A policy is deterministic given its seed and the game, so resuming lets it play again and checks
each step against the journal.
"""

from collections.abc import Mapping
from typing import Any

from balrog_rag.contracts.data import Decision
from balrog_rag.episode.journal import End
from balrog_rag.episode.outcome import Outcome
from balrog_rag.episode.play import Stage, begin, finish, record

BURST = 256
"""Steps a policy plays before its journal is written."""


async def play_policy(stage: Stage) -> End:
    """Play an episode by a policy to its end."""
    agent: Mapping[str, Any] = stage.spec.cast.agent
    before = begin(stage).numbers
    n = 0
    while True:
        stage.clock.step = n
        if not stage.tape.replaying:
            stage.clock.check()
        left = stage.spec.steps - n if stage.spec.steps else BURST
        turns = await stage.game.run_policy(
            agent["name"], agent, stage.spec.game.seeds.core, min(BURST, left)
        )
        for turn in turns:
            stage.clock.step = n
            record(stage, n, Decision(turn.action), turn.action, True, before, turn.transition)
            before = turn.transition.observation.numbers
            n += 1
            if turn.transition.ended:
                return finish(stage, End(turn.transition.ended, n, dict(turn.transition.end)))
        if stage.spec.steps and n >= stage.spec.steps:
            return finish(stage, End(Outcome.STEPS, n))
