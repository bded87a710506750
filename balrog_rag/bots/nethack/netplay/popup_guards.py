"""Guards that make a skill fail where the game waits for an answer that the skill cannot give."""

from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world.popups import popup, waits
from balrog_rag.envs.nethack.world.screen import Screen

ANSWERS = ("press_key", "type_text")
"""Skills that can be used while the game waits for an answer."""


def refuse(screen: Screen) -> None:
    """Fail if the game waits for an answer."""
    if waits(screen):
        raise ProgramFailed(f"the game waits for an answer, and only {' and '.join(ANSWERS)} can give one")


def no_popup(screen: Screen) -> None:
    """Fail if a question came up that the skill does not know how to answer; the question stays open."""
    if waits(screen):
        raise ProgramFailed(f"cannot handle the popup. {popup(screen)}")
