"""Chooses the back end that plays a run's episodes, by runner.backend."""

from balrog_rag.config.schema import RunnerConfig
from balrog_rag.run.backend import Backend, LocalBackend
from balrog_rag.run.services import LiveServices


def backend_of(runner: RunnerConfig, services: LiveServices) -> Backend:
    """Return the local back end or that of a Ray cluster; Ray is imported only if it is used."""
    if runner.backend == "ray":
        from balrog_rag.cluster.ray_backend import RayBackend

        return RayBackend(runner)
    return LocalBackend(runner, services)
