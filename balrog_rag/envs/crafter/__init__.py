"""Crafter: a small world for gathering, crafting and surviving, as BALROG plays it."""
