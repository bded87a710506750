"""Commands in messages can be pasted into a shell."""

import shlex
from pathlib import Path

from balrog_rag.util.shell_commands import command


def test_words_that_a_shell_would_split_or_interpret_are_quoted() -> None:
    line = command("report", Path("my runs/$a"), "env.tasks=[nle/x]")
    assert shlex.split(line) == ["balrog-rag", "report", "my runs/$a", "env.tasks=[nle/x]"]
    assert "'my runs/$a'" in line
