"""The viewer: an episode played back in a browser, beside what the model read and wrote.

An episode is rebuilt by replay, packed into chunks of a few dozen steps that the page unpacks on demand, and
displayed by hand-written scripts: in one file that opens without a server, or served on loopback.
"""
