"""Questions, lines of text and menus for which the game awaits an answer."""

from balrog_rag.envs.nethack.world.screen import Screen


def waits(screen: Screen) -> bool:
    """Whether the game awaits an answer."""
    return screen.asks or screen.asks_text or screen.menu


def popup(screen: Screen) -> str:
    """Describe in one line what the game awaits; empty if nothing."""
    if screen.asks_text:
        return f"The game waits for a line of text: {screen.question}"
    if screen.asks:
        return f"The game waits for an answer: {screen.question}"
    return "The game shows a menu or a list." if screen.menu else ""
