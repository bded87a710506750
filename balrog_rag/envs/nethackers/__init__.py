"""NetHackers: a board of programs that play NetHack, each identity on fifteen published games."""
