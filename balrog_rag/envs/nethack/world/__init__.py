"""What a player knows of a game of NetHack: built from the screens it was shown, and from nothing else."""
