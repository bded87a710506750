"""Skills in NetHack: generators that press keys and return in words why they stopped.

A skill is called with `yield from`, and may call others. It sees the game through its `Player` only.
"""
