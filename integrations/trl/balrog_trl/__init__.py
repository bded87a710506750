"""The games of balrog_rag for TRL: GRPOTrainer(environment_factory=BalrogGame)."""

from balrog_trl.game import BalrogGame

__all__ = ["BalrogGame"]
