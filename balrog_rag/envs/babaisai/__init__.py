"""Baba Is AI: puzzles whose rules are blocks that can be pushed; BALROG's forty tasks.

The game is not published on a package index. These rules are our own, derived from recordings of BALROG's
games.
"""
