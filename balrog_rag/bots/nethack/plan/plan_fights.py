"""Skills for fights: attack, shoot, retreat, hold out, pray, rest."""

from balrog_rag.bots.nethack.netplay.walking import melee_attack as pursue
from balrog_rag.bots.nethack.netplay.walking import square
from balrog_rag.bots.nethack.plan.plan_game import PlanGame, monster_words, said
from balrog_rag.bots.nethack.skills import exploring, fighting, magic, missiles, moving, stairs, surviving
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.names import position
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.routes import Ways

_SIGHT, _VAIN = 8, 6
_ENOUGH, _HEALTHY = 0.5, 0.95
"""Shares of the hit points below which a fight ends, and up to which one rests."""
_WRITINGS, _REST = 6, 20
_NARROW = 2
_PASSAGES = (t.CORRIDOR, t.LIT_CORRIDOR, t.DOORWAY, *t.OPEN_DOORS)
_HIT_AT_REST = "you were hit while resting"


def _target(player: Player, x: int, y: int) -> Monster:
    monster = player.world.monster_at(square(x, y))
    if monster is None:
        seen = ", ".join(position(each.place) for each in player.hostiles()[:4])
        raise ProgramFailed(
            f"there is no monster at {position(square(x, y))}"
            + (f"; there are some at {seen}" if seen else "")
        )
    return monster


def _name(monster: Monster) -> str:
    return monster.species.name if monster.species else "unseen monster"


def melee_attack(game: PlanGame, x: int, y: int) -> Skill:
    """Pursue the monster at a position and hit it until it is gone."""
    player, monster = game.player, _target(game.player, x, y)
    yield from fighting.make_sure(player, [monster])
    if monster.tame or monster.peaceful:
        kind = "your pet" if monster.tame else "peaceful"
        raise ProgramFailed(f"the {_name(monster)} is {kind}; to attack it anyway, press F and a direction")
    if not fighting.touchable(player, monster):
        raise ProgramFailed(_untouched(monster))
    return (yield from pursue(game.tracker, x, y))


def _untouched(monster: Monster) -> str:
    where = f"{_name(monster)} at {position(monster.place)}"
    return f"touching the {where} can be fatal; throw_at attacks from a distance"


def strike(game: PlanGame) -> Skill:
    """Fight the enemies in sight as long as half of the hit points last."""
    player, vain, fought = game.player, 0, False
    while enemies := player.hostiles(within=_SIGHT):
        body = player.body
        if body.hp < _ENOUGH * body.max_hp:
            if fought:
                return "less than half of the hit points are left"
            raise ProgramFailed(
                f"{body.hp} of {body.max_hp} hit points are left, less than half; retreat or hold_out, "
                "or fight on with melee_attack x y"
            )
        yield from fighting.make_sure(player, enemies)
        hostile = [
            each for each in enemies if each.hostile and not (each.species and each.species.speed == 0)
        ]
        if not hostile:
            break
        turn = player.body.turn
        told = yield from fighting.fight(player, hostile)
        fought = True
        vain = 0 if player.body.turn != turn else vain + 1
        where = f"{_name(hostile[0])} at {position(hostile[0].place)}"
        if told == Told.NOBODY_TO_GO_TO:
            raise ProgramFailed(_untouched(hostile[0]))
        if told == Told.NOBODY_WITHIN_REACH:
            raise ProgramFailed(f"the {where} cannot be reached")
        if vain > _VAIN:
            raise ProgramFailed(f"no headway against the {where}: {told}")
    far = player.hostiles()
    if not far:
        return "no enemy is in sight"
    near = [
        f"{monster_words(player, each)}, stays where it is"
        for each in far
        if t.distance(each.place, player.here) <= _SIGHT
    ]
    return (
        f"no enemy to fight is within {_SIGHT} squares; {near[0] if near else monster_words(player, far[0])}"
    )


def throw_at(game: PlanGame, x: int, y: int, item_letter: str | None = None) -> Skill:
    """Throw or shoot at the monster at a position, from where it is in line."""
    player, monster = game.player, _target(game.player, x, y)
    letter = item_letter or missiles.missile_of(player) or _ammunition(player)
    if letter is None:
        raise ProgramFailed("you carry no missiles; with an item_letter anything is thrown")
    if item_letter is not None and all(item.letter != item_letter for item in player.world.items):
        raise ProgramFailed(f"you carry nothing under the letter {item_letter!r}")
    if not fighting.in_range(player, player.here, monster):
        goals = [near for near in _around(monster.place) if fighting.in_range(player, near, monster)]
        told = yield from moving.go_to(player, goals)
        if monster not in player.world.monsters or not fighting.in_range(player, player.here, monster):
            raise ProgramFailed(f"no place in line with the {_name(monster)} was reached: {told}")
    key = chr(t.heading(player.here, monster.place))
    yield from player.ask(keys.THROW, ("want to throw", letter), ("In what direction", key))
    return f"threw {letter} at the {_name(monster)}"


def _ammunition(player: Player) -> str | None:
    """The letter of what is made to be shot; without its launcher it is thrown."""
    for item in player.world.items:
        if not item.wielded and missiles.AMMUNITION.intersection(item.name.split()):
            return item.letter
    return None


def _around(place: int) -> list[int]:
    """Squares on straight lines within five squares."""
    found = [square for near in t.NEAR[place] for square in t.ray(place, near, 5)]
    return sorted(set(found))


def zap(game: PlanGame, item_letter: str, direction: str) -> Skill:
    """Zap a wand in a direction."""
    player = game.player
    item = player.world.carried(item_letter)
    if item is None or "wand" not in item.name.split():
        what = (
            f"{item_letter} is {item.text}" if item else f"you carry nothing under the letter {item_letter!r}"
        )
        raise ProgramFailed(f"{what}; name a wand")
    yield from magic.zap(player, item, ZAP_WAYS[direction])
    return f"zapped {item.text}"


ZAP_WAYS = {
    "n": "k",
    "e": "l",
    "s": "j",
    "w": "h",
    "ne": "u",
    "se": "n",
    "sw": "b",
    "nw": "y",
    "down": ">",
    "up": "<",
    "self": ".",
}
"""The key of each direction."""


def kick(game: PlanGame, x: int, y: int) -> Skill:
    """Kick what is at a position, from beside it."""
    player, place = game.player, square(x, y)
    if place == player.here:
        raise ProgramFailed("that is where you stand")
    if player.level.terrain[place] in t.WALLS:
        raise ProgramFailed(f"there is a wall at {position(place)}; kicking it would only hurt you")
    told = yield from moving.go_to(player, t.NEAR[place])
    if t.distance(player.here, place) != 1:
        raise ProgramFailed(f"could not get next to {position(place)}: {told}")
    way = chr(t.heading(player.here, place))
    yield from player.ask(keys.KICK, ("In what direction", way), ("Really attack", "n"))
    if player.said("Really attack"):
        raise ProgramFailed("not kicked: the monster there is peaceful")
    return f"kicked: {said(player)}"


def retreat(game: PlanGame) -> Skill:
    """Leave by the stairs up, or by any stairs, or go where only one enemy can reach us."""
    player, level = game.player, game.level
    ways = Ways(level, player.here, moving.occupied(player))
    up = [] if player.body.depth <= 1 else stairs.known_stairs(player, False)
    goal = ways.nearest(up)
    if goal is None:
        goal = ways.nearest(stairs.known_stairs(player, True))
    if goal is None:
        return (yield from _to_a_corridor(player, ways))
    told = yield from moving.go_to(player, [goal])
    if player.here != goal or player.level is not level:
        raise ProgramFailed(f"could not get to the stairs: {told}")
    leads_down = level.terrain[goal] in t.DOWN
    yield from stairs.take_stairs(player, leads_down)
    return f"left by the stairs {'down' if leads_down else 'up'}; Dlvl {player.body.depth}"


def _to_a_corridor(player: Player, ways: Ways) -> Skill:
    """Go to the nearest square with at most two neighbours that can be entered."""
    level = player.level
    narrow = [at for at in range(t.SIZE) if ways.steps[at] >= 0 and len(level.steps(at)) <= _NARROW]
    goal = ways.nearest([at for at in narrow if _sure(level, at)])
    goal = ways.nearest(narrow) if goal is None else goal
    if goal is None:
        raise ProgramFailed("no stairs are in reach, and no corridor")
    told = moving.ARRIVED if goal == player.here else (yield from moving.go_to(player, [goal]))
    if player.here != goal:
        raise ProgramFailed(f"could not get to the corridor at {position(goal)}: {told}")
    return f"at {position(goal)}, where at most {len(level.steps(goal))} can stand next to you"


def _sure(level: Level, at: int) -> bool:
    """Whether no more neighbours can be entered than were seen; of a room's floor, once all were seen."""
    return level.terrain[at] in _PASSAGES or all(level.terrain[near] != t.UNKNOWN for near in t.NEAR[at])


def hold_out(game: PlanGame, turns: int = 30) -> Skill:
    """Write Elbereth underfoot and rest on it, until healed or for these turns."""
    player, begun = game.player, game.player.body.turn
    if player.level.terrain[player.here] in (*t.STAIRS, t.ALTAR, t.FOUNTAIN):
        raise ProgramFailed("nothing can be written on stairs, altars and fountains")
    ignoring = [m for m in player.hostiles(_SIGHT) if m.species and not m.species.fears_elbereth]
    written = 0
    while player.body.turn - begun < turns:
        if (yield from surviving.guarded(player)) != "guarded":
            if written >= _WRITINGS:
                raise ProgramFailed("Elbereth never read right")
            written += 1
            if (yield from surviving.engrave(player)) != "wrote":
                raise ProgramFailed(f"could not write: {' '.join(player.heard)[-80:]}")
            continue
        if player.body.hp >= _HEALTHY * player.body.max_hp and not player.hostiles(_SIGHT):
            break
        yield from exploring.search(player, 2)
    unafraid = f"; {_name(ignoring[0])} does not respect it" if ignoring else ""
    return f"Elbereth is written here{unafraid}"


def pray(game: PlanGame) -> Skill:
    """Pray if it is likely to be heard; else say why not."""
    player, turn = game.player, game.player.body.turn
    deadly = player.body.condition & w.DEADLY
    need = surviving.in_mortal_need(player) or player.body.hunger >= w.WEAK or deadly
    need = need or player.feverish or player.cursed_hands
    if not need:
        raise ProgramFailed("not prayed: there is no trouble that a god would mend")
    if player.unlucky:
        raise ProgramFailed("not prayed: your god is angry")
    if not surviving.may_pray(player):
        when = (
            "the game has only begun"
            if player.prayed is None
            else f"you prayed {turn - player.prayed} turns ago"
        )
        raise ProgramFailed(f"not prayed: it is too early, since {when}")
    told = yield from surviving.pray(player)
    if told == Told.NOT_HEARD:
        raise ProgramFailed(f"the prayer was not heard: {said(player)}")
    return f"prayed: {said(player)}"


def rest(game: PlanGame, count: int | None = None) -> Skill:
    """Let turns pass: this many, or until nearly all hit points are back."""
    player, begun, vain = game.player, game.player.body.turn, 0
    while True:
        body, passed = player.body, player.body.turn - begun
        if count is not None and passed >= count:
            return f"rested for {passed} turns"
        if count is None and body.hp >= _HEALTHY * body.max_hp:
            return "healthy" if passed else "nothing to rest for: nearly all hit points are there"
        hp = body.hp
        left = _REST if count is None else min(_REST, count - passed)
        yield from exploring.search(player, left)
        vain = 0 if player.body.turn - begun > passed else vain + 1  # a fast hero acts twice in some turns
        if vain > _VAIN:
            raise ProgramFailed("no time passes")
        if player.body.hp < hp:
            return _HIT_AT_REST
