"""Create and check the folder that BALROG's leaderboard requires, from a run.

<YYYYMMDD>_<agent>_<model>/   summary.json, metadata.yaml, README.md, and each environment's folder;
besides BALROG's own files, the journals and config.json, so that anybody can replay it
"""

import datetime
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.contracts.kinds import episodes_planned
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder as folder
from balrog_rag.results.episodes import Episode, answering, any_asked
from balrog_rag.results.experiments import departure
from balrog_rag.results.leaderboard import harness
from balrog_rag.results.leaderboard.off_plan import off_plan
from balrog_rag.results.report.markdown import escaped
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.summary import Summary, write_all
from balrog_rag.results.user_statistics import statistics_for, without_statistics
from balrog_rag.util.shell_commands import command
from balrog_rag.util.wording import many, short_number

ROOT_FILES = ("config.json", "run.json", "episodes.csv")
METADATA, README = "metadata.yaml", "README.md"


class Metadata(msgspec.Struct, frozen=True):
    """metadata.yaml, as the leaderboard reads it."""

    name: str
    """Empty: derived from the agent and the model."""
    oss: bool
    site: str | None
    verified: bool
    date: str
    trajs: bool = True


def submit(
    run_folder: Path,
    out: Path,
    metadata: Metadata,
    planned: Sequence[EpisodeSpec],
    protocol: dict[str, Any],
) -> tuple[Path, list[str]]:
    """Write the submission folder into `out`; return it with messages: its harness card, and possible
    objections of the leaderboard.

    `planned` are the specs of the run's configuration, `protocol` is the configuration of BALROG's protocol.
    """
    check(metadata)
    with without_statistics():
        summary = write_all(run_folder, use_index=False)
    refuse_incomplete(summary.run, planned)
    if not metadata.name:
        metadata = msgspec.structs.replace(metadata, name=player_of(summary.run.episodes))
        check(metadata)
    target = out / name_of(summary, metadata.date)
    if target.exists():
        raise RunFolderError(f"{target}: already exists; remove it or choose another --out")
    _copy(summary.run, target)
    if statistics_for(summary.run.by_env()):
        write_all(run_folder)  # which the submission had to be without
    folder.write_json(target / "summary.json", summary.overall)
    folder.write_bytes(target / METADATA, msgspec.yaml.encode(metadata))
    folder.write_bytes(target / README, readme(summary, metadata).encode())
    folder.write_bytes(target / harness.FILE, card(summary.run, protocol).encode())
    return target, [*harness.terminal_lines(summary.run, protocol), *objections(summary.run, protocol)]


def card(run: LoadedRun, protocol: dict[str, Any]) -> str:
    """The harness card of a run."""
    return harness.card(run, protocol, miscounted(run, protocol))


def check(metadata: Metadata) -> None:
    """Validate the user's metadata."""
    if not _is_date(metadata.date):
        raise ConfigError(f"--date {metadata.date}: invalid date; use YYYY-MM-DD")
    if (metadata.name and not metadata.name.strip()) or not metadata.name.isprintable():
        raise ConfigError(f"--name {metadata.name!r}: invalid name; use one line of printable characters")


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def refuse_incomplete(run: LoadedRun, planned: Sequence[EpisodeSpec]) -> None:
    """Raise an error unless the run is complete and played by one player from the first step."""
    if run.is_fork:
        raise RunFolderError(f"{run.folder}: forked; submit a run whose agent played every step")
    if run.homes:
        raise RunFolderError(
            f"{run.folder}: in shards; first `{command('results', 'merge', run.folder, '--out', 'RUN')}`"
        )
    if len(run.with_files) < len(run.episodes):
        unpack = command("results", "merge", run.folder, "--out", "OTHER", "--pack", 0)
        raise RunFolderError(f"{run.folder}: packed; first `{unpack}`")
    if run.problems:
        raise RunFolderError(
            f"{run.folder}: {run.problems[0].path}: {run.problems[0].what}; a submission must be complete"
        )
    if run.unfinished or not run.episodes:
        left = (
            f"{many(len(run.unfinished), 'episodes')} unfinished" if run.unfinished else "no finished episode"
        )
        raise RunFolderError(f"{run.folder}: {left}; finish with {folder.resume_with(run.folder)}")
    if run.cut:
        left = many(len(run.cut), "episodes")
        raise RunFolderError(
            f"{run.folder}: {left} cut off by a cap of the run; raise limits.run and finish "
            f"with {folder.resume_with(run.folder)}"
        )
    if wrong := off_plan(run, planned):
        what = f"{wrong[0]} ({len(wrong)} such episodes)"
        raise RunFolderError(f"{run.folder}: {what}; finish with {folder.resume_with(run.folder)}")


def player_of(episodes: Sequence[Episode]) -> str:
    """Agent and model in a few words."""
    first = episodes[0]
    return f"{first.agent_name} {first.model_name}" if any_asked(episodes) else first.agent_name


def name_of(summary: Summary, date: str) -> str:
    """The folder's name: date, agent, and the model if there is one."""
    first = summary.run.episodes[0]
    model = f"_{first.model_name.rpartition('/')[2]}" if any_asked(summary.run.episodes) else ""
    plain = re.sub(r"[^\w.-]+", "-", first.agent_name + model)
    return f"{date.replace('-', '')}_{plain}"


def objections(run: LoadedRun, protocol: dict[str, Any]) -> list[str]:
    """How the run departs from BALROG's protocol, apart from settings."""
    said = miscounted(run, protocol)
    if departed := departure(run.config):
        said.append(departed)
    played = run.by_env()
    if missing := [env for env in _balrogs(protocol) if env not in played]:
        said.append(
            f"no results for {', '.join(missing)}: the board averages the others, so tell its maintainers"
        )
    capped = sum(episode.outcome in ("tokens", "dollars", "seconds") for episode in run.episodes)
    if capped:
        said.append(f"{capped} episodes were ended by a cap on tokens, dollars or time")
    without = [episode.name for episode in run.episodes if not _csv(run.folder, episode.name).exists()]
    if without:
        said.append(
            f"{len(without)} episodes have no trajectory CSV (run.csv=true writes them), e.g. {without[0]}"
        )
    return [f"note: {line}" for line in said]


def miscounted(run: LoadedRun, protocol: dict[str, Any]) -> list[str]:
    """Environments and tasks with more or fewer episodes than in BALROG's protocol."""
    said, balrogs = [], _balrogs(protocol)
    for env, episodes in run.by_env().items():
        its = balrogs.get(env, Counter())
        if its and len(episodes) != its.total():
            said.append(f"{env}: {many(len(episodes), 'episodes')}; BALROG plays {its.total()}")
        for task, count in Counter(episode.task for episode in episodes).items():
            if task not in its:
                said.append(f"{env}/{task}: not a task of BALROG")
            elif len(episodes) == its.total() and count != its[task]:
                said.append(f"{env}/{task}: {many(count, 'episodes')}; BALROG plays {its[task]}")
    return said


def _balrogs(protocol: dict[str, Any]) -> dict[str, Counter[str]]:
    """BALROG's environments, with the number of episodes per task."""
    counts: dict[str, Counter[str]] = {}
    for named in protocol["env"]["tasks"]:
        env, _, task = named.partition("/")
        counts.setdefault(env, Counter())[task] = episodes_planned(named, protocol["env"]["episodes"])
    return counts


def _csv(run: Path, episode: str) -> Path:
    return folder.episode_stem(run, episode).with_suffix(".csv")


def _copy(run: LoadedRun, target: Path) -> None:
    draft = target.with_name(f".{target.name}.tmp")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        for env in run.by_env():
            shutil.copytree(
                run.folder / env, draft / env, ignore=shutil.ignore_patterns(".*", "*.tmp", "*.ttyrec*")
            )
        for name in ROOT_FILES:
            if (run.folder / name).is_file():
                shutil.copy2(run.folder / name, draft / name)
        draft.replace(target)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise RunFolderError(f"{target}: cannot be written ({error.strerror or error})") from error


def readme(summary: Summary, metadata: Metadata) -> str:
    """The README of a submission."""
    lines = [
        f"# {escaped(metadata.name)}",
        "",
        f"{_players(summary.run.episodes)}, played with balrog_rag.",
        "",
    ]
    for env, scored in summary.environments.items():
        lines.append(
            f"- {env}: {scored['progression_percentage']:.2f} ± {scored['standard_error']:.2f} % over "
            f"{scored['episodes_played']} episodes, {short_number(scored['input_tokens'])} tokens in, "
            f"{short_number(scored['output_tokens'])} out"
        )
    lines += [
        "",
        f"`{harness.FILE}` lists every setting that differs from BALROG's.",
        "",
        "Every episode's journal is beside its results. To replay all of them and compare every screen,",
        "prompt and action: `balrog-rag leaderboard verify FOLDER`.",
        "",
    ]
    return "\n".join(lines)


def _players(episodes: Sequence[Episode]) -> str:
    first = episodes[0]
    if not any_asked(episodes):
        return f"Agent {escaped(first.agent_name)}, without a model"
    names = ", ".join(answering(episodes)) or "no name"
    return (
        f"Agent {escaped(first.agent_name)}, model {escaped(first.model_name)} "
        f"(the answering model reported the name {escaped(names)})"
    )
