"""Small helpers that do not depend on any other package."""
