"""Find wording that makes this project hard to read; `make check` runs it as `python -m tests.wording`.

Each pattern has the plain wording to use instead. `BASELINE` is the number of matches that each folder may
still have. It may only be lowered.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).parents[1]
PATTERNS = {
    r"(?<!there )\b(?:is|are|was|were) no (?!(?:longer|better|worse|more than|less than)\b)\w+": "is not a",
    r"\bgone on with\b|\bgo on with it\b": "resume",
    r"\bby lot\b": "at random",
    r"\blest\b": "so that ... not",
    r"\bso (?:few|many) can\b": "too few to, too many to",
    r"\bholds no\b": "has no",
    r"\bbut for (?:those|the|what)\b": "except",
    r"\bin the place of\b": "instead of",
}
WORDING = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in PATTERNS.items()]
WRAP = re.compile(r"\s*\n\s*(?:#:?|//|\*)?\s*|[ \t]+")
"""Lines of a paragraph or of a comment are joined, so that a line break cannot hide a phrase."""

ALLOWED: tuple[tuple[str, str], ...] = (
    ("balrog_rag/agents/skill_answers.py", "is no JSON object; it must begin"),
    ("balrog_rag/agents/skill_answers.py", "is no correct JSON"),
    ("balrog_rag/agents/skill_answers.py", "skill has no name, or one that is no text"),
    ("balrog_rag/bots/nethack/netplay/command_skills.py", "is no key; write one character"),
)  # models read these: a change would break the replay of recorded journals
"""Matches that may stay: a path (or its beginning) and the words that contain the match."""

BASELINE: dict[str, int] = {}
"""Matches that a folder may still have; a folder that is not listed may have none."""


class Match(NamedTuple):
    """A phrase to reword."""

    file: str
    line: int
    words: str
    instead: str = ""

    @property
    def folder(self) -> str:
        """The folder whose baseline counts this match."""
        parts = self.file.split("/")
        return "/".join(parts[:2]) if parts[0] == "balrog_rag" and len(parts) > 2 else parts[0]


def files() -> Iterator[Path]:
    """Everything that people read, except notes (history) and tests."""
    for suffix in ("py", "js", "j2", "html"):
        yield from sorted((TOP / "balrog_rag").rglob(f"*.{suffix}"))
    yield from sorted(path for path in (TOP / "docs").rglob("*.md") if path.parent.name != "notes")
    yield from sorted(TOP.glob("*.md"))
    yield from sorted((TOP / "conf").rglob("*.yaml"))
    yield from sorted(path for path in (TOP / "integrations").rglob("*.py") if "tests" not in path.parts)
    yield from sorted((TOP / "integrations").rglob("*.md"))


def matches(file: str, text: str) -> Iterator[Match]:
    """Yield the phrases of a text that should be reworded."""
    starts: list[int] = []
    joined = []
    position = 0
    for gap in WRAP.finditer(text):
        piece = text[position : gap.start()] + " "
        joined.append(piece)
        starts += [position + i for i in range(len(piece))]
        position = gap.end()
    joined.append(text[position:])
    starts += range(position, len(text))
    plain = "".join(joined)
    for pattern, instead in WORDING:
        for found in pattern.finditer(plain):
            around = plain[max(0, found.start() - 40) : found.end() + 40]
            if not any(file.startswith(path) and words in around for path, words in ALLOWED):
                yield Match(file, text.count("\n", 0, starts[found.start()]) + 1, found[0], instead)


def read(path: Path) -> str:
    """Return the part of a file to check: all of it, or a changelog's unreleased section."""
    text = path.read_text(encoding="utf-8")
    if path.name == "CHANGELOG.md":
        text = "".join(re.split(r"^(?=## )", text, flags=re.MULTILINE)[:2])
    return text


def found() -> list[Match]:
    """Return every match in the files that people read."""
    return [
        match
        for path in files()
        if "_data" not in path.parts
        for match in matches(path.relative_to(TOP).as_posix(), read(path))
    ]


def excess(every: list[Match]) -> dict[str, tuple[int, int]]:
    """Return the folders with more matches than their baseline, with both counts."""
    counts = Counter(match.folder for match in every)
    return {name: (n, BASELINE.get(name, 0)) for name, n in counts.items() if n > BASELINE.get(name, 0)}


def main() -> int:
    """Print what should be reworded; 1 if a folder has more matches than its baseline."""
    every = found()
    over = excess(every)
    for match in every:
        if match.folder in over or "--all" in sys.argv:
            print(f"{match.file}:{match.line}: {match.words!r}: write {match.instead!r}")
    for name, (count, allowed) in sorted(over.items()):
        print(f"{name}: {count} phrases to reword, {allowed} allowed")
    print(f"wording: {len(every)} phrases to reword, {sum(BASELINE.values())} allowed")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
