"""Compare the episodes played with those that the configuration plans."""

from collections.abc import Sequence

from balrog_rag.episode import journal as journals
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.runs import LoadedRun


def off_plan(run: LoadedRun, planned: Sequence[EpisodeSpec]) -> list[str]:
    """One line for each episode that is missing, unplanned, or played differently."""
    missing = [
        f"{spec.episode}: missing, although the configuration plans it"
        for spec in planned
        if not journals.exists(run.journal(spec.episode))
    ]
    return missing + unplanned(run, planned)


def unplanned(run: LoadedRun, planned: Sequence[EpisodeSpec]) -> list[str]:
    """One line for each episode that is not planned, or planned differently."""
    wanted = {spec.episode: spec.digest for spec in planned}
    played = {episode.name: episode.spec_digest for episode in run.episodes}
    uncalled = [f"{name}: not planned by the configuration" for name in played if name not in wanted]
    otherwise = [
        f"{name}: its game, seeds, limits, agent, model or knowledge differ from the configuration"
        for name, digest in played.items()
        if wanted.get(name, digest) != digest
    ]
    return uncalled + otherwise
