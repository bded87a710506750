"""Baba Is AI: puzzles whose rules are blocks that can be pushed, by BALROG's forty tasks.

The game is on no package index. Its rules here are our own, worked out from recordings of BALROG's games.
"""
