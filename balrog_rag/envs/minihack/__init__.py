"""MiniHack: small levels made of NetHack."""
