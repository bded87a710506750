"""Find the limit that slows the runs down, other than the model's server; sampled by displays."""

import os

from balrog_rag.run.run import InPlay
from balrog_rag.util.wording import many

SMOOTHING = 0.2
"""Weight of the newest sample: episodes alternate between game and model many times per second."""


class Bottleneck:
    """Settings that a user could raise to speed the runs up."""

    def __init__(self, playing: InPlay) -> None:
        self._gate, self._paces = playing.gate, playing.paces
        runner = playing.runs[0].config.runner
        self._workers = runner.workers or os.cpu_count() or 1
        self._local = runner.backend == "local"
        self._in_games = 0.0

    def sample(self, in_play: int, in_games: int, waiting: int) -> str:
        """Return the limiting setting; empty if it is the server, or if nothing waits.

        `in_games` of the episodes in play do not wait for a model; `waiting` episodes have not started.
        """
        share = in_games / in_play if in_play else 0.0
        self._in_games += SMOOTHING * (share - self._in_games)
        if self._gate.paused or self._gate.stopping:
            return ""
        paces = self._paces()
        if found := [pace.bottleneck for pace in paces if pace.bottleneck]:
            return "; ".join(found)
        if self._local and self._in_games > 0.5 and in_play > self._workers:
            return f"runner.workers={self._workers}: most episodes wait for their game"
        if waiting and in_play >= self._gate.width and any(pace.room for pace in paces):
            return f"runner.concurrency={self._gate.width}: {many(waiting, 'episodes')} not started"
        return ""
