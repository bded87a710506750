"""The schema of conf/, and how configurations are composed and frozen."""
