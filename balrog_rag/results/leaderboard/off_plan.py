"""What was played beside what the configuration asks for."""

from collections.abc import Sequence

from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.runs import LoadedRun


def off_plan(run: LoadedRun, planned: Sequence[EpisodeSpec]) -> list[str]:
    """Episodes that are missing, that nobody asked for, or that were played otherwise; one line each."""
    wanted = {spec.episode: spec.digest for spec in planned}
    played = {episode.name: episode.spec_digest for episode in run.episodes}
    missing = [
        f"{name}: missing, though the configuration asks for it"
        for name in wanted
        if not run_folder.journal_path(run.folder, name).exists()
    ]
    uncalled = [
        f"{name}: the configuration asks for no such episode" for name in played if name not in wanted
    ]
    otherwise = [
        f"{name}: its game, seeds, limits, agent, model or knowledge are not those of the configuration"
        for name, digest in played.items()
        if wanted.get(name, digest) != digest
    ]
    return missing + uncalled + otherwise
