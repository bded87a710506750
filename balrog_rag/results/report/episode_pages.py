"""Links from a report to the pages on which its runs' episodes are replayed."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec

from balrog_rag.results.episodes import Episode

PAGE = "view.html"
"""The page in a run's folder, if it was created."""


class EpisodePages(msgspec.Struct, frozen=True):
    """The pages of runs, as linked from a page in the folder `at`."""

    at: Path
    written: Mapping[Path, Path] = {}
    """Pages beside the report, by run folder."""

    def of(self, run: Path) -> str:
        """Link to a run's page; empty if there is none."""
        found = self.written.get(run) or run / PAGE
        return quote(os.path.relpath(found.resolve(), self.at.resolve())) if found.is_file() else ""

    def episode(self, run: Path, name: str) -> str:
        """Link to an episode; empty if there is none. Journals are not linked: a browser shows raw lines."""
        page = self.of(run)
        return f"{page}#episode={quote(name)}" if page else ""

    def end(self, run: Path, episode: Episode) -> str:
        """Link to an episode's last step; empty if there is none."""
        page = self.episode(run, episode.name)
        return f"{page}&step={episode.steps}" if page else ""
