"""Sections on the origin of the figures: settings, folders, versions, single episodes."""

from collections.abc import Sequence
from math import isnan

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import in_words
from balrog_rag.results.arms import Arm, differences, in_order
from balrog_rag.results.comparability import short
from balrog_rag.results.comparing import few
from balrog_rag.results.episode_arrays import arrays_of
from balrog_rag.results.episodes import Episode
from balrog_rag.results.recorded_provenance import different_packages, origin
from balrog_rag.results.report.document import Cell, Link, Section, Table
from balrog_rag.results.report.episode_pages import EpisodePages
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.stored_sequence import having
from balrog_rag.util.wording import many

MOST_ROWS = 1_000
"""Maximum number of listed episodes; the data files beside the report contain all."""
ENDED = ("steps", "dollars", "ended", "in the game's words")


def settings_section(arms: Sequence[Arm]) -> Section:
    """The settings in which the arms differ."""
    rows: list[list[Cell]] = [
        [key, *[short(value) for value in row]] for key, row in differences([arm.settings for arm in arms])
    ]
    if not rows:
        return Section("Settings")
    return Section("Settings that differ", tables=[Table(["key", *[arm.name for arm in arms]], rows)])


def provenance_section(arms: Sequence[Arm]) -> Section:
    """Folders, configurations, versions and seeds behind the figures, and what was left out."""
    rows: list[list[Cell]] = []
    left_out: list[str] = []
    versions: dict[str, list[str]] = {}
    for arm in arms:
        for run in arm.runs:
            games = {*arrays_of(run.episodes).games.values}
            began = [origin(folder) for folder in run.folders]
            done = f"{len(run.episodes)} of {run.planned}"
            rows.append(
                [
                    arm.name,
                    run.name,
                    run.digest[:12],
                    done,
                    str(len(games)),
                    min(each.started for each in began),
                    ", ".join(dict.fromkeys(each.prompts for each in began)),
                ]
            )
            for each in dict.fromkeys(each.versions for each in began):
                versions.setdefault(each, []).append(run.name)
            left_out += _left_out(run)
    for arm in arms[1:]:
        first, other = ([folder for run in each.runs for folder in run.folders] for each in (arms[0], arm))
        if different := different_packages(first, other):
            names = f"{arms[0].name} and {arm.name}"
            left_out.append(f"Package versions of {names} differ: {'; '.join(different)}.")
    headings = ["arm", "run folder", "configuration", "episodes", "games", "started", "prompts"]
    played_with: list[list[Cell]] = [[", ".join(names), words] for words, names in versions.items()]
    return Section(
        "Provenance", left_out, [Table(headings, rows), Table(["run folder", "versions"], played_with)]
    )


def _left_out(run: LoadedRun) -> list[str]:
    """What a run's figures leave out, and steps that its agent did not decide."""
    said = [f"Left out of {run.name}: {problem.path}: {problem.what}." for problem in run.problems]
    if run.unfinished:
        said.append(f"Unfinished in {run.name}: {many(len(run.unfinished), 'episodes')}.")
    if run.cut:
        said.append(f"Cut off in {run.name} by a cap of the run: {many(len(run.cut), 'episodes')}.")
    if run.missing:
        said.append(f"Missing from {run.name}: {run.missing} of {run.planned} episodes.")
    forked = having(run.episodes, "forked")
    return said + [
        f"Forked in {run.name}: {episode.name}, decided by {episode.forked}." for episode in forked
    ]


def episodes_section(arms: Sequence[Arm], pages: EpisodePages) -> Section:
    """Every episode, linked to its run's page if that exists; one table per kind of game."""
    count = sum(len(run.episodes) for arm in arms for run in arm.runs)
    listed = [
        (arm.name, run, episode) for arm in arms for run in arm.runs for episode in run.episodes[:MOST_ROWS]
    ][:MOST_ROWS]
    tables = []
    for env in in_order(episode.env for _, _, episode in listed):
        rows = [_episode_row(*row, pages) for row in listed if row[2].env == env]
        measures = [measure.title for measure in kind_of(env).scoring.measures]
        tables.append(Table(["arm", "episode", "%", *measures, *ENDED], rows, caption=f"{env}: episodes."))
    if tables:
        lacking = [run.name for arm in arms for run in arm.runs if not pages.of(run.folder)]
        tables[-1].note = _episodes_note(lacking, count, len(listed))
    return Section("Episodes", tables=tables)


def _episodes_note(lacking: Sequence[str], count: int, shown: int) -> str:
    note = "Episodes link to their replay, and ends to the last step."
    if lacking:
        note = (
            f"{note} No page exists for {few(lacking)}: `balrog-rag view RUN` shows its episodes, and "
            "`report --pages all` writes pages for all runs."
        )
    if shown < count:
        note += f" The first {shown:,} of {count:,} are listed; episodes.csv contains all."
    return note


def _measured(episode: Episode) -> list[Cell]:
    """The kind's measures of an episode; empty where its journal lacks them."""
    found = [episode.measured(each) for each in kind_of(episode.env).scoring.measures]
    return ["" if isnan(value) else f"{round(value, 2):,g}" for value in found]


def _episode_row(arm: str, run: LoadedRun, episode: Episode, pages: EpisodePages) -> list[Cell]:
    way, end = pages.episode(run.folder, episode.name), pages.end(run.folder, episode)
    name = episode.name.removeprefix(f"{episode.env}/")
    ended = in_words(episode.outcome)
    return [
        arm,
        Link(name, way) if way else name,
        f"{episode.percent:.2f}",
        *_measured(episode),
        f"{episode.steps:,}",
        f"{episode.total.dollars:,.3f}" if episode.total.dollars else "",
        Link(ended, end) if end else ended,
        episode.ended_by,
    ]
