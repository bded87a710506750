"""Processes that host games, and the line to them; they know no game."""
