"""Recorded games as in the NetHack Learning Dataset: import, select, stream, count, and learn from them.

Built on `nle.dataset`: its database, its layouts, its reader. Errors that it would report with a traceback,
or not at all, are one line here.
"""
