"""Built-in watchers: a run's progress and results in a file, in experiment trackers, and as live traces."""
