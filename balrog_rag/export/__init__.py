"""Export episodes in formats of other tools."""
