"""Single commands of the game with their arguments; further questions of the game are left to the player."""

from collections.abc import Callable

from balrog_rag.bots.nethack.netplay.explore_skills import search_here
from balrog_rag.bots.nethack.netplay.walking import move_to, nearest_beside, square, walk
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.names import position
from balrog_rag.envs.nethack.world.player import Skill
from balrog_rag.envs.nethack.world.tracker import Tracker

WAYS = {"n": "k", "e": "l", "s": "j", "w": "h", "ne": "u", "se": "n", "sw": "b", "nw": "y", "self": "."}
"""The key of each direction."""
_NAMED = {"ESC": 27, "SPACE": 32, "ENTER": 13}
_ALWAYS = frozenset("-$*?")
"""Answers to the question for an item other than letters of the inventory."""
_CHUNK = 10
"""Turns rested with one command."""
_REPLIES = 6

Body = Callable[..., Skill]


def press_key(tracker: Tracker, key: str) -> Skill:
    """Press one key."""
    named = _NAMED.get(key.upper())
    if named is None and not (len(key) == 1 and 32 <= ord(key) < 127):
        raise ProgramFailed(f"{key!r} is no key; write one character, or ESC, SPACE or ENTER")
    yield from tracker.player.press(named or ord(key))
    return f"pressed {key}"


def type_text(tracker: Tracker, text: str) -> Skill:
    """Press the keys of a text, one after the other."""
    wrong = [letter for letter in text if not 32 <= ord(letter) < 127]
    if wrong:
        raise ProgramFailed(f"{wrong[0]!r} is on no key")
    for letter in text:
        yield from tracker.player.press(ord(letter))
    return f"typed {text}"


def set_avoid_monster_flag(tracker: Tracker, value: str) -> Skill:
    """Let paths avoid monsters, or not."""
    yield from ()  # no key is pressed for it
    tracker.avoiding = value == "true"
    return f"avoid_monster is {value}"


def rest(tracker: Tracker, count: int = 5) -> Skill:
    """Let turns pass, until disturbed."""
    return (yield from _wait(tracker, count, "rested", keys.DOT))


def search(tracker: Tracker, count: int = 5) -> Skill:
    """Search the adjacent squares for this number of turns, until disturbed."""
    return (yield from _wait(tracker, count, "searched", keys.SEARCH))


def _wait(tracker: Tracker, count: int, done: str, key: int) -> Skill:
    if count < 1:
        raise ProgramFailed(f"count is {count}; it must be 1 or more")
    player, begun, left = tracker.player, tracker.turn, count
    while left > 0:
        turns = min(left, _CHUNK)
        before = player.body.turn
        if key == keys.SEARCH:
            yield from search_here(tracker, turns)
        else:
            for pressed in (*map(ord, str(turns)), key):
                yield from player.press(pressed)
        left -= turns
        if 2 * (player.body.turn - before) < turns:  # a fast hero has more moves than there are turns
            break
    turns = player.body.turn - begun
    return f"{done} for {turns} turn{'' if turns == 1 else 's'}"


def pray(tracker: Tracker) -> Skill:
    """Pray, and confirm it."""
    player = tracker.player
    yield from player.press(keys.PRAY)
    if player.screen.asks:
        yield from player.press(keys.YES)
    return "prayed" if tracker.prayed == player.body.turn or tracker.prayed else "did not pray"


def carried(tracker: Tracker, letter: str) -> int:
    """The key of a carried item."""
    letters = {item.letter for item in tracker.player.world.items}
    if len(letter) != 1 or letter not in letters | _ALWAYS:
        raise ProgramFailed(f"you carry nothing under the letter {letter!r}")
    return ord(letter)


def zap(tracker: Tracker, item_letter: str, direction: str) -> Skill:
    """Zap a wand in a direction."""
    player, letter = tracker.player, carried(tracker, item_letter)
    yield from _with_item(tracker, keys.ZAP, letter)
    if player.screen.asks and "direction" in player.screen.question:
        yield from player.press(ord(WAYS[direction]))
    return "done"


def at_position(key: int) -> Body:
    """Make a skill of a command given here, or at a position that the player goes to first."""

    def body(tracker: Tracker, x: int | None = None, y: int | None = None) -> Skill:
        if (x is None) != (y is None):
            raise ProgramFailed("a position needs both x and y, or neither")
        if x is not None and y is not None and square(x, y) != tracker.player.here:
            yield from move_to(tracker, x, y)
            if tracker.player.here != square(x, y):
                raise ProgramFailed(f"could not get to {position(square(x, y))}")
        yield from tracker.player.press(key)
        return "done"

    return body


def with_item(key: int) -> Body:
    """Make a skill of a command on a carried item."""

    def body(tracker: Tracker, item_letter: str | None = None) -> Skill:
        letter = None if item_letter is None else carried(tracker, item_letter)
        yield from _with_item(tracker, key, letter)
        return "done"

    return body


def _with_item(tracker: Tracker, key: int, letter: int | None) -> Skill:
    """Give a command and name the item; decline what lies here, since the item was named."""
    player = tracker.player
    yield from player.press(key)
    for _ in range(_REPLIES if letter is not None else 0):
        question = player.screen.question
        if "What do you want to" in question and letter is not None:
            yield from player.press(letter)
            break
        if not player.screen.asks or "[yn" not in question:
            break
        yield from player.press(keys.NO)
    return "done"


def towards(key: int) -> Body:
    """Make a skill of a command on a neighbouring position, to which the player goes first."""

    def body(tracker: Tracker, x: int, y: int) -> Skill:
        place, player = square(x, y), tracker.player
        if place == player.here:
            raise ProgramFailed("that is where you stand")
        yield from nearest_beside(tracker, place)
        player.tried = place
        yield from player.press(key)
        if player.screen.asks and "direction" in player.screen.question:
            yield from player.press(t.heading(player.here, place))
        return "done"

    return body


def at_door(key: int) -> Body:
    """Make a skill of a command on a door, to which the player goes first: diagonally no door opens."""

    def body(tracker: Tracker, x: int, y: int) -> Skill:
        sides = t.BESIDE[square(x, y)]
        if tracker.player.here not in sides:
            yield from walk(tracker, sides)
        return (yield from towards(key)(tracker, x, y))

    return body


def plain(key: int) -> Body:
    """Make a skill of a command without arguments."""

    def body(tracker: Tracker) -> Skill:
        yield from tracker.player.press(key)
        return "done"

    return body
