"""The rules of the handcrafted player in order; the first that applies is followed."""

import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeAlias

from numpy.typing import NDArray

from balrog_rag.bots.nethack.netplay import command_skills as commands
from balrog_rag.bots.nethack.netplay import explore_skills, walking
from balrog_rag.contracts.programs import Program, ProgramFailed
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.known_world import HUNGRY
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.player import Skill
from balrog_rag.envs.nethack.world.popups import waits
from balrog_rag.envs.nethack.world.tracker import TrackedScreen, Tracker

Did: TypeAlias = Generator[int, Any, bool]
"""Acts if the rule applies, and returns whether it did."""

_NEAR, _TOO_WEAK = 10, 3
_HURT = 0.6
_BETWEEN_PRAYERS = 500
"""In turns; the paper's code gives no number, its guide says 500."""
_KICKS = 5
_IDLE = 10
"""Actions without game time after which it gives up."""
_STOPPING = ("level", "teleport", "thing")
"""Events that end a walk early."""
_NO_FOOD = ("potion", "book", "opener", "whistle", "dragon", "ring", "wand", "gem", "corpse")
_ENTRY = re.compile(r"(?:^| )([a-zA-Z]) - (.+)$")
_QUIT = ord("q") | 0x80


class HandcraftedBot:
    """The state that the rules need beyond the tracker's."""

    def __init__(self, tracker: Tracker, paper_bug: bool) -> None:
        """With `paper_bug` the turn of the last prayer is mistaken for the time since."""
        self.tracker, self.paper_bug = tracker, paper_bug
        self.opened: Counter[tuple[Place, int]] = Counter()
        self.kicked: Counter[tuple[Place, int]] = Counter()
        self.taken: set[tuple[Place, int, int]] = set()

    def near(self) -> list[int]:
        """Squares of reachable monsters other than pets, the nearest first."""
        steps = walking.ways(self.tracker).steps
        found = []
        for monster in self.tracker.player.world.monsters:
            far = min((steps[near] for near in t.NEAR[monster.place] if steps[near] >= 0), default=-1) + 1
            if not monster.tame and 0 < far <= _NEAR:
                found.append((far, monster.place))
        return [place for _, place in sorted(found)]

    def may_pray(self) -> bool:
        """Whether enough turns seem to have passed since the last prayer."""
        prayed, turn = self.tracker.prayed, self.tracker.turn
        if prayed is None:
            return True
        return (prayed if self.paper_bug else turn - prayed) > _BETWEEN_PRAYERS

    def things(self) -> list[int]:
        """Squares with potions or food that have not been picked up unchanged."""
        table, level = k.kinds(), self.tracker.player.level
        return [
            place
            for place, glyph in level.objects.items()
            if table.shows[glyph] == k.OBJECT
            and table.symbol[glyph] in "!%"
            and (level.place, place, glyph) not in self.taken
        ]


def play(screen: Mapping[str, NDArray[Any]], paper_bug: bool) -> Program:
    """Play until the game is over, or until nothing helps; then the game is quit."""
    told = isinstance(screen, TrackedScreen)  # if skills are offered, the game itself updates the tracker
    tracker = screen.tracker if isinstance(screen, TrackedScreen) else Tracker(screen)
    program = _play(HandcraftedBot(tracker, paper_bug))
    try:
        key = next(program)
        while True:
            yield key
            if not told:
                tracker.see()
            key = program.send(screen)
    except StopIteration as stop:
        return str(stop.value)


def _play(bot: HandcraftedBot) -> Skill:
    player, idle = bot.tracker.player, 0
    while not player.world.over and idle < _IDLE:
        turn = bot.tracker.turn
        player.heard.clear()
        bot.tracker.happened.clear()
        yield from _follow_rules(bot)
        idle = 0 if bot.tracker.turn > turn else idle + 1
    for key in (keys.ESC, keys.ESC, _QUIT, keys.YES, keys.ESC, keys.ESC):
        yield from player.press(key)
    return "nothing helps"


def _follow_rules(bot: HandcraftedBot) -> Skill:
    for rule in RULES:
        try:
            if (yield from _stoppable(bot.tracker, rule(bot))):
                break
        except ProgramFailed:
            break
    return "done"


def _stoppable(tracker: Tracker, did: Did) -> Did:
    """Run a rule that another level, a teleport or a new sight interrupts."""
    tracker.interrupt()
    try:
        key = next(did)
        while True:
            yield key
            if tracker.interrupted(_STOPPING):
                did.close()
                return True
            key = did.send(None)
    except StopIteration as stop:
        return bool(stop.value)


def close_popups(bot: HandcraftedBot) -> Did:
    """Answer yes; if that does not help, leave."""
    screen = bot.tracker.player.screen
    if not waits(screen):
        return False
    first = keys.ESC if screen.asks_text else keys.YES if screen.asks else ord(" ")
    yield from bot.tracker.player.press(first)
    if waits(screen):
        yield from bot.tracker.player.press(keys.ESC)
    return True


def fight(bot: HandcraftedBot) -> Did:
    """Hit the nearest monster, or step towards it."""
    tracker, player = bot.tracker, bot.tracker.player
    near = bot.near()
    if not near or player.body.hp <= _TOO_WEAK:
        return False
    if t.distance(near[0], player.here) == 1:
        yield from walking.hit(tracker, near[0])
        return True
    way = walking.way_beside(tracker, near[0])
    if not way:
        return False
    yield from walking.bump(tracker, way[0])
    return True


def heal(bot: HandcraftedBot) -> Did:
    """Drink a healing potion, else pray."""
    tracker, body = bot.tracker, bot.tracker.player.body
    if body.hp >= _HURT * body.max_hp:
        return False
    potion = next((item for item in tracker.player.world.items if "healing" in item.name), None)
    if potion is not None:
        yield from commands.with_item(keys.QUAFF)(tracker, potion.letter)
        return True
    if not bot.may_pray():
        return False
    yield from commands.pray(tracker)
    return True


def eat(bot: HandcraftedBot) -> Did:
    """Eat any carried food."""
    food = next((item for item in bot.tracker.player.world.items if is_food(item)), None)
    if bot.tracker.player.body.hunger < HUNGRY or food is None:
        return False
    yield from commands.with_item(keys.EAT)(bot.tracker, food.letter)
    return True


def is_food(item: Item) -> bool:
    """Whether an item is food, by its name."""
    if any(word in item.name for word in _NO_FOOD):
        return False
    table = k.kinds()
    foods = {name for name, symbol in zip(table.name, table.symbol, strict=True) if symbol == "%" and name}
    return any(name in item.name or name in item.name.replace("s of ", " of ") for name in foods)


def pick_up(bot: HandcraftedBot) -> Did:
    """Go to potions and food, and pick them up."""
    tracker, player = bot.tracker, bot.tracker.player
    found = walking.ways(tracker)
    goal = found.nearest(bot.things())
    if goal is None:
        return False
    yield from walking.walk(tracker, [goal])
    bot.taken.add((player.level.place, goal, player.level.objects.get(goal, -1)))
    yield from player.press(keys.PICK_UP)
    if player.screen.menu:
        yield from _choose(bot)
    return True


def _choose(bot: HandcraftedBot) -> Skill:
    """Select potions and food on a menu's page, and confirm."""
    player, chosen = bot.tracker.player, False
    for line in player.screen.lines():
        entry = _ENTRY.search(line)
        if entry is None:
            chosen = any(word in line for word in ("Comestibles", "Potions")) if line.strip() else chosen
        elif chosen and "corpse" not in entry[2]:
            yield from player.press(ord(entry[1]))
    yield from player.press(keys.ENTER)
    return "chosen"


def explore(bot: HandcraftedBot) -> Did:
    """Explore the level; if nothing is left to see go down, kick doors, and search, in this order."""
    tracker, level = bot.tracker, bot.tracker.player.level
    done = yield from explore_skills.explore_once(tracker, bot.opened, lambda place: True)
    if done != "explored":
        return True
    stairs = walking.ways(tracker).nearest(level.spots(t.DOWN))
    if stairs is not None:
        yield from walking.walk(tracker, [stairs])
        yield from tracker.player.press(keys.DOWN)
        return True
    for door in level.spots(t.CLOSED_DOORS):
        if bot.kicked[level.place, door] < _KICKS:
            bot.kicked[level.place, door] += 1
            yield from commands.at_door(keys.KICK)(tracker, *t.xy(door))
            return True
    yield from explore_skills.search_somewhere(tracker, range(t.SIZE))
    return True


RULES: tuple[Callable[[HandcraftedBot], Did], ...] = (close_popups, fight, heal, eat, pick_up, explore)
