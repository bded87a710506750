"""Verify a submission for `leaderboard verify` and `leaderboard site`: its replay, its plan and its seeds."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.util.terminal_safe import terminal_safe

if TYPE_CHECKING:
    from balrog_rag.episode.spec import EpisodeSpec
    from balrog_rag.results.leaderboard.certificate import Certificate
    from balrog_rag.results.leaderboard.seed_rules import SeedRule

BALROGS = ("naive", "cot", "robust_naive", "robust_cot", "few_shot", "dummy")
"""BALROG's own agents."""


class Verification(NamedTuple):
    """What was found of a submission."""

    differences: list[str]
    violations: list[str] = []  # noqa: RUF012 - never changed
    """How its seeds break the board's rule."""
    certificate: "Certificate | None" = None
    """None for an unreadable folder."""

    @property
    def wrong(self) -> list[str]:
        """One line for everything that is wrong."""
        return [*self.differences, *self.violations]


def verified_folder(path: Path, rule: "SeedRule", again: bool = True) -> Verification:
    """Verify a submission.

    `again`: replay also what this machine has verified before, unchanged since.
    """
    from balrog_rag.results.leaderboard.certificate import certify
    from balrog_rag.results.leaderboard.seed_rules import applied
    from balrog_rag.results.leaderboard.verified import is_verified, verify
    from balrog_rag.results.runs import load

    try:
        planned, protocol = planned_specs(path), balrogs_protocol(path)
        wrong: list[str] = []
        if again or not is_verified(path):
            wrong = verify(path, planned, protocol, _play_again, lambda line: print(terminal_safe(line)))
        run = load(path, use_index=False)
        found, violations = applied(run, rule)
        certificate = certify(run, planned, wrong, game_versions(planned), found)
        return Verification(wrong, [f"{path}: {line}" for line in violations], certificate)
    except BalrogError as error:
        return Verification([str(error)])


def planned_specs(run: Path) -> "Sequence[EpisodeSpec]":
    """Return the episodes that a folder's configuration plans."""
    from balrog_rag.results.stored_run import read_run
    from balrog_rag.run.resume import specs_of

    return specs_of(read_run(run))


def balrogs_protocol(run: Path) -> dict[str, Any]:
    """Return BALROG's stock configuration, with the run's agent if it is one of BALROG's."""
    from balrog_rag.config.compose import compose
    from balrog_rag.config.frozen import plain
    from balrog_rag.results.run_folder import frozen_config

    agent = frozen_config(run).config.get("agent", {}).get("name")
    return plain(
        compose(["experiment=balrog", "model=openai", *([f"agent={agent}"] if agent in BALROGS else [])])
    )


def game_versions(planned: "Sequence[EpisodeSpec]") -> dict[str, str]:
    """Return the versions here of this package and of the games, on which a replay depends."""
    from balrog_rag.contracts.kinds import kind_of
    from balrog_rag.run.provenance import versions

    kinds = [kind_of(env) for env in dict.fromkeys(spec.game.env for spec in planned)]
    packages = {"balrog_rag", *(name for kind in kinds for name in kind.sampling.packages)}
    return {name: number for name, number in versions(kinds).items() if name in packages}


def _play_again(journal: Path, into: Path) -> str:
    from balrog_rag.run.csv_log import CsvLog
    from balrog_rag.run.replay import replay

    with CsvLog(into) as trajectory:
        return asyncio.run(replay(journal, trajectory)).head
