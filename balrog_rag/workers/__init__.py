"""Worker processes that host games, and the connection to them; nothing here is specific to a game."""
