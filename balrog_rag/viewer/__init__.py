"""The viewer: an episode played in a browser, beside what the model read and wrote.

An episode is rebuilt by replay, packed into chunks of a few dozen steps that a page unpacks on demand, and
shown by hand-written scripts: as one file that opens without a server, or served on loopback.
"""
