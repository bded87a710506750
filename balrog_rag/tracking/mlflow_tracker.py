"""`run.watch=[mlflow]`: a run of MLflow per attempt, set up by MLflow's own environment variables."""

import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from balrog_rag.config.frozen import leaf_items
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.tracking.run_records import Record, numbers_in
from balrog_rag.tracking.run_tracker import RunTracker

EXPERIMENT = "balrog_rag"
LONGEST = 500
"""Characters of a parameter, which every store of MLflow accepts; the whole configuration is an artifact."""
MOST_PARAMS = 100
"""Parameters in one request."""


class MlflowTracker(RunTracker):
    """Logs the configuration as parameters, progress as metrics, episodes and results as tables."""

    requires: ClassVar[Mapping[str, str]] = {"mlflow": "mlflow"}

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None
        self._id = ""
        self._count = 0

    def started(self, run: Record) -> None:
        """Begin a run of MLflow."""
        # The display owns the terminal; MLflow would print addresses on it.
        os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
        from mlflow import MlflowClient
        from mlflow.entities import Param

        logging.getLogger("mlflow").setLevel(logging.WARNING)
        self._client = MlflowClient()  # not the module's functions, which share one active run per process
        made = self._client.create_run(
            self._experiment(),
            run_name=run["run"],
            tags={f"balrog_rag.{name}": str(run[name]) for name in NAMED if run[name]},
        )
        self._id = made.info.run_id
        leaves = leaf_items(run["config"])
        params = [Param(_valid(key), str(value)[:LONGEST]) for key, value in leaves]
        for start in range(0, len(params), MOST_PARAMS):
            self._client.log_batch(self._id, params=params[start : start + MOST_PARAMS])
        self._client.log_dict(self._id, run, "run.json")

    def _experiment(self) -> str:
        from mlflow.exceptions import MlflowException

        if given := os.environ.get("MLFLOW_EXPERIMENT_ID"):
            return given
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", EXPERIMENT)
        found = self._client.get_experiment_by_name(name)
        if found is None:
            try:
                return str(self._client.create_experiment(name))
            except MlflowException:  # another run of the sweep has just made it
                found = self._client.get_experiment_by_name(name)
        if found is None:
            raise BalrogError(f"MLflow: experiment {name!r} can neither be made nor found")
        return str(found.experiment_id)

    def progressed(self, progress: Record) -> None:
        """Log the progress."""
        self._log("progress", progress)

    def episode_ended(self, episode: Record, progress: Record) -> None:
        """Log an episode's results, by environment."""
        self._log(f"episode/{episode['env']}", episode)
        self._log("progress", progress)

    def finished(self, table: Sequence[Record], episodes: Sequence[Record]) -> None:
        """Log both tables and the results, and end the run."""
        for name, rows in (("results", table), ("episodes", episodes)):
            if rows:
                split = {"columns": list(rows[0]), "data": [list(row.values()) for row in rows]}
                self._client.log_dict(self._id, split, f"{name}.json")
        for row in table:
            self._log(f"results/{row['env']}", row)
        self._client.set_terminated(self._id)

    def _log(self, prefix: str, record: Record) -> None:
        from mlflow.entities import Metric

        now, self._count = int(1000 * time.time()), self._count + 1
        self._client.log_batch(
            self._id,
            [
                Metric(f"{prefix}/{name}", value, now, self._count)
                for name, value in numbers_in(record).items()
            ],
        )


def _valid(name: str) -> str:
    """Return a name that MLflow accepts: keys of the configuration may contain paths and addresses."""
    return "/".join(part for part in re.sub(r"[^\w./ -]", "_", name).split("/") if part.strip("."))


NAMED = ("folder", "label", "balrog_rag", "config_digest", "viewer", "viewer_command")
"""What of a run's description becomes tags."""
