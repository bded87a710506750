"""A run over several machines (the extra `ray`)."""
