"""Recorded games as in the NetHack Learning Dataset: imported, chosen, streamed, counted, learnt from.

Everything here stands on `nle.dataset`: its database, its layouts, its reader. What it would answer with a
traceback, or with silence, is one line here.
"""
