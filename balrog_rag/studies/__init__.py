"""Evaluations of this project's own ideas: offline studies of look-ups, and judgements of passages."""
