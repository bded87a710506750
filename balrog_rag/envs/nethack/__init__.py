"""NetHack: engine, screen, actions, observations, progression."""

WHOLE = ("nle", "nethackers", "decisions")
"""The kinds that play NetHack itself, not levels of their own alone."""
