"""The submissions of a leaderboard site: who played, with what, and what was verified of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.episode.spec import MOST_EPISODES
from balrog_rag.results.arms import Arm
from balrog_rag.results.comparability import settings_of
from balrog_rag.results.episodes import NO_MODEL, Episode, answering, any_asked
from balrog_rag.results.leaderboard.certificate import Certificate, journal_digest
from balrog_rag.results.leaderboard.seed_rules import SeedRule, chooser, repeated_games
from balrog_rag.results.leaderboard.submission import METADATA, Metadata
from balrog_rag.results.recorded_provenance import origin
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.shard_folders import loaded
from balrog_rag.util.bounded_decoding import decoded_json, decoded_yaml
from balrog_rag.util.files import read_file

REPLAYED, PRESENT, NUMBERS, DIFFERS = (
    "verified by replay",
    "journals present",
    "numbers only",
    "differs from its journals",
)
"""States of a submission."""
UNKNOWN = "unknown"
MOST_METADATA = 1 << 16
"""Bytes of metadata.yaml that are read."""
LONGEST_NAME = 200
"""Characters of a submitted name that are shown."""


class SiteEntry(msgspec.Struct):
    """One submission."""

    slug: str
    """Its folder on the site."""
    name: str
    agent: str
    model: str
    date: str
    state: str
    weights: str
    """open, closed or unknown, as the submitter says."""
    tools: str
    """What the player had beyond BALROG's prompts and actions; empty: nothing."""
    dollars: float | None
    """Per episode; None if unknown."""
    arm: Arm | None = None
    """Its episodes; None if there are only numbers."""
    numbers: dict[str, tuple[float, float, int]] = {}
    """As the submitter reports them: mean in percent, standard error and episodes by environment."""
    certificate: str = ""
    """The name of its certificate's file."""
    why_unranked: list[str] = []
    notes: list[str] = []
    page: str = ""
    view: str = ""

    @property
    def run(self) -> LoadedRun:
        """Its run."""
        assert self.arm is not None  # asked only of entries with journals
        return self.arm.runs[0]


def entry_of(
    folder: Path,
    rule: SeedRule,
    wrong: Sequence[str] | None = None,
    violations: Sequence[str] = (),
    certificate: Certificate | None = None,
) -> SiteEntry:
    """Read a submission; `wrong` are the differences that its replay found, None without a replay."""
    if not (folder / "config.json").exists():
        return _numbers_only(folder)
    run, metadata = loaded(folder, use_index=False), _metadata(folder)
    name = run.name
    episodes = run.episodes
    if not episodes:
        raise RunFolderError(f"{folder}: no finished episode; a site has nothing to show of it")
    arm = Arm(name, [run], settings_of(run), plain=name)
    totals = [episode.total for episode in episodes]
    unpriced = any(total.unpriced for total in totals)
    first = episodes[0]
    return SiteEntry(
        slug=_slug(name),
        name=_claimed_name(metadata, name),
        agent=first.agent_name,
        model=first.model_name if any_asked(episodes) else NO_MODEL,
        date=origin(folder).started.partition("T")[0],
        state=PRESENT if wrong is None else DIFFERS if wrong else REPLAYED,
        weights=_weights(metadata),
        tools=", ".join(tools_of(run)),
        dollars=None if unpriced else sum(total.dollars for total in totals) / len(episodes),
        arm=arm,
        certificate=certificate.name if certificate is not None else "",
        why_unranked=_why_unranked(arm, [*(wrong or []), *violations]),
        notes=_notes(run, metadata, rule),
    )


def _why_unranked(arm: Arm, wrong: Sequence[str]) -> list[str]:
    folder = arm.runs[0].folder
    found = []
    for line in wrong:  # some name the folder in full, which a page must not show
        for place in (folder.resolve(), folder):
            line = line.removeprefix(f"{place}: ").replace(f"{place}/", "")
        found.append(line)
    if arm.forked:
        found.append("its player did not play from the first step")
    if arm.partial:
        found.append(arm.partial)
    return found


def _notes(run: LoadedRun, metadata: Metadata | None, rule: SeedRule) -> list[str]:
    model = run.episodes[0].model_name
    said = [] if rule.fixed else [chooser(run), *repeated_games(run)]
    if not any_asked(run.episodes):
        return said
    others = [name for name in answering(run.episodes) if name != model]
    if others:
        said.append(f"the answering model called itself {', '.join(others)}")
    claimed = metadata.name.lower() if metadata is not None else ""
    if claimed and model.rpartition("/")[2].lower() not in claimed:
        said.append(f"its name does not mention the model of its journals, {model}")
    return said


def tools_of(run: LoadedRun) -> list[str]:
    """Return what a player had beyond BALROG's own prompts and actions."""
    agent: Mapping[str, Any] = run.config.get("agent", {})
    retrieval = agent.get("retrieval") or {}
    found = ["retrieval"] if retrieval.get("enabled") else []
    found += ["native tool calls"] if agent.get("answers") == "tools" else []
    found += ["code"] if agent.get("name") == "code" else []
    if any(_skilled(episode) for episode in run.episodes):
        found.append("skills")
    return found if any_asked(run.episodes) else [*found, "a program that plays"]


def _skilled(episode: Episode) -> bool:
    offered = episode.game.options.get("actions")
    return offered in registry.skill_sets.names() or bool(episode.game.programs and any_asked([episode]))


def _numbers_only(folder: Path) -> SiteEntry:
    """Read a submission in BALROG's layout without journals."""
    summary, metadata = _Reported.read(folder), _metadata(folder)
    name = folder.resolve().name
    agent = str(summary.agent.get("type") or summary.agent.get("agent_type") or UNKNOWN)
    return SiteEntry(
        slug=_slug(name),
        name=_claimed_name(metadata, name),
        agent=agent[:LONGEST_NAME],
        model=str(summary.client.get("model_id") or UNKNOWN)[:LONGEST_NAME],
        date=metadata.date if metadata is not None else "",
        state=NUMBERS,
        weights=_weights(metadata),
        tools=UNKNOWN,
        dollars=None,
        numbers={
            env: (each.progression_percentage, each.standard_error, each.episodes_played)
            for env, each in summary.environments.items()
        },
    )


_Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


class _ReportedEnv(msgspec.Struct):
    progression_percentage: _Percent
    standard_error: _Percent = 0.0
    episodes_played: Annotated[int, msgspec.Meta(ge=0, le=MOST_EPISODES)] = 0


class _Reported(msgspec.Struct):
    """summary.json, as BALROG writes it, within the bounds of what a page can show."""

    environments: Annotated[
        dict[Annotated[str, msgspec.Meta(max_length=100)], _ReportedEnv],
        msgspec.Meta(min_length=1, max_length=50),
    ]
    agent: dict[str, Any] = {}
    client: dict[str, Any] = {}

    @classmethod
    def read(cls, folder: Path) -> "_Reported":
        path = folder / "summary.json"
        try:
            return decoded_json(read_file(path), cls)
        except OSError as error:
            raise RunFolderError(
                f"{folder}: neither config.json nor BALROG's summary.json can be read ({error.strerror}); "
                "pass run folders or submissions"
            ) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RunFolderError(f"{path}: not a summary in BALROG's layout ({error})") from error


def _claimed_name(metadata: Metadata | None, folder: str) -> str:
    return (metadata.name if metadata is not None and metadata.name else folder)[:LONGEST_NAME]


def _metadata(folder: Path) -> Metadata | None:
    try:
        return decoded_yaml(read_file(folder / METADATA, MOST_METADATA), Metadata)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _weights(metadata: Metadata | None) -> str:
    return UNKNOWN if metadata is None else "open" if metadata.oss else "closed"


def _slug(name: str) -> str:
    """Return a name for a folder and an address; entries' own names may contain anything."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:120] or "submission"


def distinct(entries: Sequence[SiteEntry]) -> None:
    """Give each entry a folder of its own, and rank none of two with the same journal.

    Which of them played it cannot be known: a copy may have been listed first.
    """
    taken: set[str] = set()
    owners: dict[str, SiteEntry] = {}
    for entry in entries:
        base, count = entry.slug, 1
        while entry.slug in taken:
            count += 1
            entry.slug = f"{base}-{count}"
        taken.add(entry.slug)
        if entry.arm is None:
            continue
        entry.arm.name = entry.arm.plain = entry.slug
        for episode in entry.run.episodes:
            owner = owners.setdefault(journal_digest(entry.run.journal(episode.name)), entry)
            if owner is not entry:
                for one, other in ((entry, owner), (owner, entry)):
                    one.why_unranked.append(f"{episode.name}: its journal is also in {other.slug}")
