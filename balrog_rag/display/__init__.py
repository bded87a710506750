"""Terminal output for runs and episodes."""
