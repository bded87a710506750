"""Decisions: states where games of NetHack are decided, twenty actions each, judged by the game's state."""
