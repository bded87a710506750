"""What everything speaks: data, behaviour, errors and the registry. Knows no game."""
