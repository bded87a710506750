"""NetHack: engine, screen, actions, observations, progression."""
