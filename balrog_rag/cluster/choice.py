"""Who plays a run's episodes, by runner.backend."""

from balrog_rag.config.schema import RunnerConfig
from balrog_rag.run.backend import Backend, LocalBackend
from balrog_rag.run.services import LiveServices


def backend_of(runner: RunnerConfig, services: LiveServices) -> Backend:
    """This process with its workers, or a cluster; Ray is imported where it is asked for."""
    if runner.backend == "ray":
        from balrog_rag.cluster.ray_backend import RayBackend

        return RayBackend(runner)
    return LocalBackend(runner, services)
