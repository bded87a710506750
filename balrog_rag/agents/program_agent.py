"""A program as an agent: instead of deciding step by step, it plays on by itself for a while."""

from balrog_rag.contracts.data import Decision, Observation, ProgramPlayer


class ProgramAgent:
    """Hands the game to a program."""

    def __init__(self, player: ProgramPlayer) -> None:
        self._decision = Decision(player.name, player=player)

    async def act(self, observation: Observation) -> Decision:
        """Let the program play on."""
        return self._decision

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Do nothing: a program sees the game itself and needs no history."""
