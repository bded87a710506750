"""Guards that make a skill fail if the game awaits an answer that the skill cannot give."""

from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world.popups import popup, waits
from balrog_rag.envs.nethack.world.screen import Screen

ANSWERS = ("press_key", "type_text")
"""Skills that can be used while the game awaits an answer."""


def refuse(screen: Screen) -> None:
    """Fail if the game awaits an answer."""
    if waits(screen):
        raise ProgramFailed(f"the game waits for an answer, and only {' and '.join(ANSWERS)} can give one")


def no_popup(screen: Screen) -> None:
    """Fail if a question came up that the skill cannot answer; the question stays open."""
    if waits(screen):
        raise ProgramFailed(f"cannot handle the popup. {popup(screen)}")
