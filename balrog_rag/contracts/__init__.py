"""The shared contracts: data, behaviour, errors and the registry. Nothing here is specific to a game."""
