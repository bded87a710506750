"""NetHack: engine, screen, actions, observations, progression."""

WHOLE = ("nle", "nethackers")
"""The kinds that play NetHack from its beginning."""
