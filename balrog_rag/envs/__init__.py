"""The kinds of game, one folder each; `contracts/kinds.py` says what a kind declares."""
