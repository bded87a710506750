"""What is wrong with a plug-in, one line each."""

from balrog_rag.util.terminal_safe import one_line

MOST = 30
"""CheckFindings that are kept: more would hide the first ones, which are the ones to begin with."""


class CheckFindings:
    """Collects findings; call it to add one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._found: set[str] = set()

    def __call__(self, what: str, where: str = "") -> None:
        """Add a finding, unless the same was found elsewhere."""
        if what not in self._found and len(self.lines) < MOST:
            self._found.add(what)
            self.lines.append(one_line(f"{where}: {what}" if where else what))
