"""Players that press keys by themselves, and the skills they use. Bots import games, never the reverse."""
