"""BabyAI: errands in a room, by BALROG's five tasks."""
