"""Bots for NetHack: skills, the delver, NetPlay's skills and scenarios, external programs."""
