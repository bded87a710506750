"""Who chose the games of a submission: the board, a season's secret seeds, or the submitter."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from balrog_rag.results.leaderboard.season import RevealedSeason
from balrog_rag.results.runs import LoadedRun


class SeedRule(msgspec.Struct, frozen=True):
    """How a board fixes the games; by default it does not."""

    run_seed: int | None = None
    """The run.seed that every submission must have."""
    season: RevealedSeason | None = None
    """The season whose revealed seeds every submission must have played."""
    found: Mapping[str, Any] = {}
    """What was found of the submission."""

    @property
    def fixed(self) -> bool:
        """Whether the board chooses the games."""
        return self.season is not None or self.run_seed is not None

    @property
    def words(self) -> list[str]:
        """The options of the command that apply this rule."""
        if self.season is not None:
            return [
                "--season",
                f"{self.season.season}.json",
                "--revealed",
                f"{self.season.season}.revealed.json",
            ]
        return [] if self.run_seed is None else ["--run-seed", str(self.run_seed)]

    @property
    def facts(self) -> dict[str, Any]:
        """The rule and what was found, for a certificate."""
        if self.season is not None:
            fixed = f"season {self.season.season}, commitment {self.season.commitment}"
        elif self.run_seed is not None:
            fixed = f"run.seed {self.run_seed}"
        else:
            fixed = "the submitter"
        return {"chosen by": fixed, **self.found}


def applied(run: LoadedRun, rule: SeedRule) -> tuple[SeedRule, list[str]]:
    """Return the rule with what it found of a run, and one line per violation."""
    env, games = _section(run, "env"), repeated_games(run)
    seeding, seed = env.get("seeding"), _section(run, "run").get("seed")
    wrong: list[str] = []
    if rule.season is not None:
        wrong += _unlike_season(env, rule.season)
    elif rule.run_seed is not None:
        if seed != rule.run_seed:
            wrong.append(f"run.seed is {seed}; the board's is {rule.run_seed}, so the seeds were chosen")
        if seeding in ("list", "fixed"):
            wrong.append(f"env.seeding={seeding}: the seeds were chosen; the board's follow from run.seed")
    if rule.fixed:
        wrong += games
    found = {"env.seeding": seeding, "run.seed": seed, "repeated games": len(games), "violations": wrong}
    return msgspec.structs.replace(rule, found=found), wrong


def _unlike_season(env: Mapping[str, Any], season: RevealedSeason) -> list[str]:
    if env.get("seeding") != "list" or env.get("seeds") != list(season.seeds):
        return [f"env.seeds: not the seeds of season {season.season} in its order"]
    if env.get("episodes") != len(season.seeds):
        return [
            f"env.episodes is {env.get('episodes')}; season {season.season} has {len(season.seeds)} seeds"
        ]
    return []


def repeated_games(run: LoadedRun) -> list[str]:
    """Return one line per game that a submission played more than once."""
    played = Counter((episode.env, episode.task, episode.game_name) for episode in run.episodes)
    return [
        f"{env}/{task}: {count} episodes play one game"
        for (env, task, _), count in played.items()
        if count > 1
    ]


def chooser(run: LoadedRun) -> str:
    """Return who chose the games, if no rule was applied."""
    seeding, seed = _section(run, "env").get("seeding"), _section(run, "run").get("seed")
    if seeding in ("list", "fixed"):
        return f"games chosen by the submitter (env.seeding={seeding})"
    return f"games follow from run.seed={seed}, which the submitter chose"


def _section(run: LoadedRun, name: str) -> Mapping[str, Any]:
    found = run.config.get(name, {})
    return found if isinstance(found, dict) else {}
