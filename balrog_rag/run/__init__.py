"""A run: its plan, scheduler, services and records."""
