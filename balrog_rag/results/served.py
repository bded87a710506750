"""What the servers behind a run's model said of themselves, and in what arms of one model differ.

Hosted models change behind their names. A comparison cannot see that in the settings, only in the model ids
and fingerprints that answers carry, and in the answers to fixed questions (`balrog-rag models canary`).
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.arms import Arm
from balrog_rag.results.episodes import answering, fingerprints
from balrog_rag.util.files import read_file

CANARY = "canary.json"
MOST_BYTES = 1 << 20
LONGEST = 80
"""Characters of an id that a sentence shows."""
MOST_SHOWN = 3


class AskedCanary(msgspec.Struct, frozen=True):
    """One set of answers to the fixed questions, as stored beside a run."""

    model: str
    digest: str
    asked: str = ""
    answers: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


def canaries(folder: Path) -> list[AskedCanary]:
    """Return the sets of answers stored beside a run; none if there are none or they cannot be read."""
    try:
        return msgspec.json.decode(read_file(folder / CANARY, MOST_BYTES), type=list[AskedCanary])
    except (OSError, ValueError, RecursionError, ConfigError):
        return []


def _facts(arm: Arm) -> dict[str, tuple[str, ...]]:
    """Return what an arm's servers said, by what is compared; empty where nothing was said."""
    asked = {each.digest for run in arm.runs for each in canaries(run.folder)}
    return {
        "returned model id": tuple(answering(arm.episodes)),
        "fingerprint": tuple(fingerprints(arm.episodes)),
        "canary": tuple(sorted(asked)),
    }


def served_difference(arms: Sequence[Arm]) -> str:
    """Say in one line in what the servers of arms with one model differ; "" if in nothing known."""
    named: dict[str, list[Arm]] = {}
    for arm in arms:
        for model in sorted(_models(arm)):
            named.setdefault(model, []).append(arm)
    parts = [part for model, of_it in named.items() for part in _differences(model, of_it)]
    return f"the servers may not have been the same: {'; '.join(parts)}" if parts else ""


def _models(arm: Arm) -> set[str]:
    return {str(model.get("name")) for model in arm.episodes.arrays.models}


def _differences(model: str, arms: Sequence[Arm]) -> list[str]:
    facts = [_facts(arm) for arm in arms]
    found = []
    for what in facts[0]:
        said = [(arm.name, each[what]) for arm, each in zip(arms, facts, strict=True) if each[what]]
        if len({values for _, values in said}) > 1:
            of_arms = ", ".join(f"{_shown(values)} ({name})" for name, values in said)
            found.append(f"{what} of {model}: {of_arms}")
        elif said and len(said[0][1]) > 1:
            found.append(f"{what} of {model} changed during play: {_shown(said[0][1])}")
    return found


def _shown(values: Sequence[str]) -> str:
    more = f" and {len(values) - MOST_SHOWN} more" if len(values) > MOST_SHOWN else ""
    return " and ".join(" ".join(value.split())[:LONGEST] for value in values[:MOST_SHOWN]) + more
