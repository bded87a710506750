"""A player's knowledge of a game of NetHack, built only from the screens it was shown."""
