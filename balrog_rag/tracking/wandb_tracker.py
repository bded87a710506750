"""`run.watch=[wandb]`: a run of Weights & Biases per attempt, set up by W&B's own environment variables.

W&B's files are where it always puts them, not in the run folder, which must contain no links.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.events import Troubled
from balrog_rag.tracking.run_records import Record, numbers_in
from balrog_rag.tracking.run_tracker import RunTracker

PROJECT = "balrog_rag"


class WandbTracker(RunTracker):
    """Logs progress as metrics, and episodes and results as tables."""

    requires: ClassVar[Mapping[str, str]] = {"wandb": "wandb"}

    def __init__(self) -> None:
        super().__init__()
        self._logged: Any = None

    def started(self, run: Record) -> None:
        """Begin a run of W&B; attempts at one run, and the runs of a sweep, are a group."""
        import wandb

        assert self._run is not None  # the base has set it
        mode = os.environ.get("WANDB_MODE", "online")
        if mode == "online" and not wandb.api.api_key:  # W&B would ask on the terminal
            raise ConfigError(
                "run.watch=wandb: no API key; run `wandb login`, set WANDB_API_KEY, or set WANDB_MODE=offline"
            )
        folder = self._run.folder
        group = folder.parent.name if self._run.label else folder.name
        self._logged = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=os.environ.get("WANDB_NAME", run["run"]),
            group=os.environ.get("WANDB_RUN_GROUP", group),
            config=run,
            reinit="create_new",  # the runs of a sweep are logged at the same time
            save_code=False,
            # The display owns the terminal: W&B must neither print on it nor record it.
            settings=wandb.Settings(console="off", silent=True, disable_git=True, disable_code=True),
        )

    def progressed(self, progress: Record) -> None:
        """Log the progress."""
        self._logged.log({f"progress/{name}": value for name, value in numbers_in(progress).items()})

    def episode_ended(self, episode: Record, progress: Record) -> None:
        """Log an episode's progression, by environment, beside the progress."""
        env = episode["env"]
        mine = {f"episode/{env}/{name}": value for name, value in numbers_in(episode).items()}
        whole = {f"progress/{name}": value for name, value in numbers_in(progress).items()}
        self._logged.log(mine | whole)

    def troubled(self, event: Troubled) -> None:
        """Count errors; they are part of the progress."""

    def finished(self, table: Sequence[Record], episodes: Sequence[Record]) -> None:
        """Log both tables, put the results into the summary, and finish."""
        import wandb

        for name, rows in (("results", table), ("episodes", episodes)):
            if rows:
                columns = list(rows[0])
                shown = wandb.Table(columns=columns, data=[list(row.values()) for row in rows])
                self._logged.log({name: shown})
        for row in table:
            values = {f"results/{row['env']}/{name}": value for name, value in numbers_in(row).items()}
            self._logged.summary.update(values)
        self._logged.finish()
