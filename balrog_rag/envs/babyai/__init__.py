"""BabyAI: small tasks in a room; BALROG's five tasks."""
