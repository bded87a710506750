"""TextWorld: text adventures, by BALROG's three tasks of 25 games each."""
