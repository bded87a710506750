"""NetHackers: a leaderboard of programs that play NetHack, each identity on fifteen published games."""
