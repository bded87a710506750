"""Who the hero is, from the line of welcome."""

from nle import nethack

ROLES = {"Wizard": "wiz", "Valkyrie": "val", "Samurai": "sam", "Monk": "mon"}
ESC = nethack.ACTIONS.index(nethack.Command.ESC)
ATTRIBUTES = nethack.ACTIONS.index(nethack.Command.ATTRIBUTES)


def identity(observation):
    """The role's first letters; empty if no line names it."""
    text = bytes(observation["tty_chars"]).decode("latin-1")
    return next((short for role, short in ROLES.items() if f" {role}" in text), "")
