"""Crafter: a small world of gathering, making and surviving, as BALROG plays it."""
