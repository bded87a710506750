"""Commands of this program as they are written in messages, for pasting into a shell."""

import shlex


def command(*words: object) -> str:
    """Return `balrog-rag WORD...`, with quotes around words that a shell would split or interpret."""
    return shlex.join(["balrog-rag", *map(str, words)])
