"""Skills at the level of decisions: `env.actions=plan`."""
