"""Games on written levels with the skills of a plan."""

from typing import Any

from tests.bots.netplay.made import Played, made


def planned(description: str, character: str = "sam-hum-law-fem", seed: int = 1, **options: Any) -> Played:
    """Start a game on the level of this description; no limit but the caller's ends it."""
    chosen = {"actions": "plan", "more_skills": False, "no_progress_calls": 0, **options}
    return made(description, character, seed, **chosen)
