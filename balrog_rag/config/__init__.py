"""The schema of conf/, composing and freezing it."""
