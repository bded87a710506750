"""Actions written as code: a small subset of Python, interpreted, never given to `exec` or `eval`."""
