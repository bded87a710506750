"""NetPlay's scenarios as a kind of game."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Annotated, Any, Literal

import msgspec

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.kinds import (
    EnvironmentKind,
    Measure,
    Numbers,
    PlayedEpisode,
    Rules,
    Sampling,
    Scoring,
    Share,
)
from balrog_rag.envs.nethack import kind as nethack
from balrog_rag.envs.nethack.characters import check_character
from balrog_rag.envs.nethack.options import INTERFACE, NetHackOptions, nethack_options
from balrog_rag.util.templates import templates

TASKS = (
    *("bag", "guided_bag", "multipickup", "wand", "guided_wand", "ordered", "unordered", "alternative"),
    *("conditional", "carry", "guided_carry", "boulder", "focused_boulder", "guided_boulder", "escape"),
    "hint_escape",
)
LONG = frozenset(TASKS[TASKS.index("carry") :])


class ScenarioOptions(NetHackOptions, frozen=True, forbid_unknown_fields=True):
    """Options of a scenario; NetPlay's values."""

    actions: Annotated[
        Literal["skills", "full"],
        msgspec.Meta(description="skills: NetPlay's skills; full: the keys of NetHack"),
    ] = "skills"
    no_progress: Annotated[
        int,
        msgspec.Meta(ge=0, description="key presses without game time after which a game is ended; 0: never"),
    ] = 0
    autopickup: Annotated[bool | None, msgspec.Meta(description="pick up what one steps on")] = False


class Judged(Share):
    """A scenario is solved if the judge says so when it has ended."""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Process a moment; only the last one counts."""
        if ended and numbers.get("solved"):
            self.value = 1.0


def solved(runs: Sequence[Sequence[PlayedEpisode]]) -> list[str]:
    """The share of solved scenarios, with the sample deviation as in NetPlay's paper."""
    values = [episode.percent for episodes in runs for episode in episodes]
    if not values:
        return [""]
    deviation = stdev(values) if len(values) > 1 else 0.0
    return [f"{fmean(values):.2f} ± {deviation:.2f}"]


RULES = Rules(
    "NetPlay",
    ("solved, %",),
    solved,
    "Means ± sample standard deviation. NetPlay's runs were judged by hand, five of each scenario.",
    "netplay_scenarios",
    ("solved",),
)


def make(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a scenario."""
    from balrog_rag.bots.nethack.netplay.scenarios.game import make as make_game

    return make_game(spec, ttyrec)


def check(game: GameSpec) -> None:
    """Reject characters and seeds that NetHack would not accept."""
    check_character(nethack_options(game).character)
    nethack.check_seeds(game)


def identity(game: GameSpec) -> str:
    """Scenarios on one level with the same seed and character are the same world."""
    return nethack.identity(game)


NETPLAY = EnvironmentKind(
    name="netplay",
    title="NetPlay's scenarios",
    tasks=lambda: TASKS,
    make=make,
    progress=lambda game: Judged(),
    options=ScenarioOptions,
    check=check,
    max_steps=lambda task: 500 if task in LONG else 200,
    sampling=Sampling(
        listed=TASKS,
        interface=INTERFACE,
        identity=identity,
        packages=("nle", "minihack"),
    ),
    scoring=Scoring(
        solved_or_not=True,
        measures=(
            Measure("subgoals", "sub-goals reached", "sub-goals", "subgoals", "last"),
            Measure("finished", "ended by finish_task", "games", "finished", "last", high=1.0),
            Measure("premature", "finish_task before it was solved", "games", "premature", "last", high=1.0),
            Measure("keys", "key presses", "key presses", "keys", "last"),
        ),
        rules=(RULES,),
    ),
    hints=replace(
        nethack.HINTS,
        prompts=lambda: {**templates("balrog_rag.envs.minihack"), **nethack.netplay_prompts()},
    ),
    display=replace(nethack.DISPLAY, timeline=None),
)
