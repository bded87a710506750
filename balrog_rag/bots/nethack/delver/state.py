"""What the player keeps in mind beyond what it saw."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeAlias

from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.skills import fighting, gear, surviving
from balrog_rag.bots.nethack.skills.fight_cost import cost_of
from balrog_rag.bots.nethack.skills.moving import occupied
from balrog_rag.bots.nethack.skills.stairs import MAIN
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.player import Player
from balrog_rag.envs.nethack.world.routes import Ways, first

Did: TypeAlias = Generator[int, Any, bool]
"""Presses keys, and at its end says whether there was anything to do."""

LOW, HUNGER, CURSES = "prayer_low", "prayer_hunger", "prayer_curses"
"""What a prayer is for: the switches for it."""

DWARVES = ("dwarf", "dwarf lord", "dwarf king")
"""Who may carry a digging tool: three in eight do (makemon.c, m_initweap())."""
INFRAVISION = ("dwarven", "elven", "gnomish", "orcish")
"""Who sees in the dark all that is warm, such as watchmen."""
DEEP, HELD = "deep", "held"
"""What to aim at: BALROG's progression, or progression held."""


@dataclass(frozen=True)
class Plan:
    """What can be tuned."""

    aim: str = DEEP
    """`deep`: fall as deep as possible; `held`: on the way climb back up, which holds the level left."""
    dig: bool = True
    """Whether to dig down at all."""
    mines: int = 1
    """Experience level wanted for the Gnomish Mines."""
    dive_level: int = 1
    """Experience level below which the first levels are explored before the way down."""
    dive_explore: int = 2
    """How many levels these are."""
    dive_turn: int = 105
    """Turn from which on the way down is dared: before, no prayer would be heard."""
    seek: int = 40
    """How often one searches a level from which stairs may lead to the Mines for what is hidden."""
    patience: int = 12_000
    """Turns after which growing is over."""
    leave_below: float = 0.6
    """Part of the hit points below which one goes up from the stairs of the Mines to rest."""
    siege: int = 30
    """Turns without an enemy in sight after which the stairs of the Mines are left."""
    rest_below: float = 0.7
    rest_depth: int = 4
    """The deepest level on which one rests on the way down."""
    rest_until: float = 0.95
    on: Switches = Switches()
    """The tactics that are switched on."""


_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def plan_of(options: Mapping[str, Any]) -> Plan:
    """The plan with these settings changed."""
    tactics = {field.name: bool for field in fields(Switches)}
    known = {field.name: type(getattr(Plan(), field.name)) for field in fields(Plan) if field.name != "on"}
    known |= tactics
    for name, value in options.items():
        if name not in known:
            raise ConfigError(f"agent.options: delver has no {name!r}{nearest(name, known)}")
        wanted = known[name]
        if not isinstance(value, (int, float) if wanted is float else wanted):
            raise ConfigError(f"agent.options.{name}: expected {_TYPES[wanted]}, got {value!r}")
    if options.get("aim", DEEP) not in (DEEP, HELD):
        raise ConfigError(f"agent.options.aim: {options['aim']!r} is neither {DEEP} nor {HELD}")
    chosen = {name: value for name, value in options.items() if name in tactics}
    others = {name: value for name, value in options.items() if name not in tactics}
    return Plan(**others, on=Switches(**chosen))


class SwitchedOff:
    """The names of the tactics that are switched off."""

    def __init__(self, switches: Switches) -> None:
        self._switches = switches

    def __contains__(self, name: object) -> bool:
        """Whether a tactic is switched off now."""
        return not getattr(self._switches, str(name))


class Thing(NamedTuple):
    """What lies on a square; to look there again pays when its top has changed or a further dwarf fell."""

    level: Place
    place: int
    glyph: int
    dwarves: int
    """How many dwarves seem to have fallen there."""


@dataclass
class Bot:
    """A player with a plan."""

    player: Player
    plan: Plan = Plan()
    why: str = ""
    """The rule that is followed."""
    hp: int = 0
    """Hit points when the rule began to be followed."""
    felt: int = 0
    """Hit points when the last move began."""
    hurt: bool = False
    """Whether hit points were lost in the last move."""
    climbed: int = 0
    """The deepest level from which we climbed, which holds it."""
    resting: bool = False
    waited: int = 0
    """Turns spent waiting for enemies in sight to come."""
    quiet: int = 0
    """Turns spent on stairs in the Mines without an enemy in sight."""
    bound: int = 0
    """Turns spent waiting for a prayer to free our hands."""
    mined: bool = False
    """Whether the Mines were seen to their end, or as far as any way leads."""
    fled: dict[Place, int] = field(default_factory=dict)
    """When which level was left in flight."""
    flights: Counter[Place] = field(default_factory=Counter)
    """How often."""
    haven: tuple[Place, int] | None = None
    """Where Elbereth was written to rest on it."""
    struck_at: int = -100
    """The turn in which hit points were last lost."""
    shot_at: int = -100
    """The turn in which somebody unseen hurt us as we rested."""
    guard_seen: int = -100
    """The turn in which the guard of a vault was last seen."""
    fired_at: int = -100
    """The turn in which a missile hurt us."""
    looked: set[Thing] = field(default_factory=set)
    """Things that were looked at."""
    unreached: dict[Thing, int] = field(default_factory=dict)
    """When no way led to food, which may be found later."""
    priced: dict[tuple[Place, int], int] = field(default_factory=dict)
    """What a digging tool costs that was too dear, 0 for other goods that we went to: level, square."""
    ignored: dict[int, int] = field(default_factory=dict)
    """Until when a monster out of reach is ignored."""
    chased: Counter[int] = field(default_factory=Counter)
    """How often a step was made towards a monster."""

    @property
    def unknown(self) -> "SwitchedOff":
        """The common knowledge that is switched off, which skills ask for."""
        return SwitchedOff(self.on)

    def digger(self) -> Item | None:
        """What we mean to dig down with."""
        return gear.digger(self.player) if self.plan.dig else None

    @property
    def on(self) -> Switches:
        """The tactics that are switched on."""
        return self.plan.on

    def may_pray(self, need: str = LOW, desperate: bool = False) -> bool:
        """Whether a prayer may help, if we pray at all."""
        if not (self.on.prayer and getattr(self.on, need)):
            return False
        return surviving.may_pray(self.player, desperate=desperate) or not self.on.prayer_timing

    def spares(self, monster: Monster) -> bool:
        """Whether a monster is left alone because hitting it harms."""
        return monster.species is not None and fighting.untouchable(self.player, monster.species)

    def potion(self) -> Item | None:
        """A potion of healing that we would drink."""
        return surviving.healing(self.player) if self.on.potions else None

    def fled_from(self, place: Place | None) -> bool:
        """Whether a level was left in flight not long ago."""
        return place in self.fled and self.player.body.turn - self.fled[place] < TUNING.shun

    def walled_in(self) -> bool:
        """Whether no way leads out of here, as in a vault: its guard slays whoever does not follow him."""
        ways = Ways(self.player.level, self.player.here)
        return sum(steps >= 0 for steps in ways.steps) <= TUNING.closet

    def starving(self) -> bool:
        """Whether hunger will end the game soon, whatever we do."""
        return self.player.body.hunger >= w.WEAK and not surviving.rations(self.player, self.on.larder)

    def under_fire(self) -> bool:
        """Whether we were shot at not long ago."""
        return self.player.body.turn - self.fired_at < TUNING.fire

    def recovering(self) -> bool:
        """Whether we wait for wounds to heal before we go back to where we fled from."""
        body = self.player.body
        if self.digger() and self.player.world.place.branch == MAIN:
            return False
        fled = any(self.fled_from(place) for place in self.player.level.links.values())
        return fled and body.hp < TUNING.recovered * body.max_hp and body.hunger < w.WEAK

    def enemies(self) -> list[Monster]:
        """Monsters to be reckoned with now, the nearest first."""
        player = self.player
        return [monster for monster in player.hostiles(TUNING.enemy_sight) if self._matters(monster)]

    def victims(self) -> list[Monster]:
        """Peaceful dwarves worth killing for what they may dig with, however far off they are seen."""
        player = self.player
        if (
            not (self.plan.dig and self.on.murder)
            or gear.digger(player)
            or (player.level.watched and player.race not in INFRAVISION)
            or player.body.hp < TUNING.murder_hp * player.body.max_hp
        ):
            return []
        dwarves = [m for m in player.world.monsters if m.species and m.species.name in DWARVES and not m.tame]
        if self.on.peacefuls:
            fighting.presume(player, dwarves)
        return [
            m
            for m in dwarves
            if m.peaceful
            and player.body.turn >= self.ignored.get(m.number, 0)
            and cost_of(player, [m]) < TUNING.murder_cost * player.body.hp
        ]

    def prey(self) -> tuple[Monster, list[int]] | None:
        """The first of them to whom a way leads, and that way, which is empty if it stands next to us."""
        player = self.player
        for victim in self.victims():
            if t.distance(victim.place, player.here) == 1:
                return victim, []
            way = first(player.level, player.here, t.NEAR[victim.place].__contains__, occupied(player))
            if way and len(way) < TUNING.chase:
                return victim, way
        return None

    def _matters(self, monster: Monster) -> bool:
        near = t.distance(monster.place, self.player.here) == 1
        species = monster.species
        if species and (self.spares(monster) or (species.stays and not near)):
            return False
        if species is None and (not near or self._may_be_our_pet()):
            return False  # only felt, perhaps long ago
        return near or self.player.body.turn >= self.ignored.get(monster.number, 0)

    def _may_be_our_pet(self) -> bool:
        """Whether whom we feel while blind may be our pet: it was about not long ago, and nobody hurts us."""
        body, seen = self.player.body, self.player.level.pet
        about = seen is not None and body.turn - seen < TUNING.pet_about
        unhurt = body.turn - self.struck_at > TUNING.pet_doubted
        return bool(body.condition & w.BLIND) and about and unhurt

    def tire(self, monster: Monster, turns: int) -> None:
        """Count a step towards a monster; after many it is left alone for a while."""
        self.chased[monster.number] += 1
        if self.chased[monster.number] % TUNING.chase_steps == 0:
            self.ignore([monster], turns)

    def ignore(self, monsters: Sequence[Monster], turns: int) -> None:
        """Leave monsters out of account for a while, unless they come near."""
        for monster in monsters:
            self.ignored[monster.number] = self.player.body.turn + turns

    def heed(self, monsters: Sequence[Monster]) -> None:
        """Reckon with monsters again that were left out of account."""
        for monster in monsters:
            self.ignored.pop(monster.number, None)

    def alarm(self) -> bool:
        """Whether something came up that a longer undertaking should be left for."""
        player = self.player
        hurt, self.hp = player.body.hp < self.hp, player.body.hp
        if hurt:
            self.ignored.clear()
        hungry = player.body.hunger >= w.WEAK and self.may_pray(HUNGER)
        return hurt or hungry or player.world.over or bool(self.enemies() or self.guard() or self.prey())

    def guard(self) -> Monster | None:
        """The guard of a vault in sight who wants us to follow him, without the vault's gold."""
        if self.digger() or not self.on.vault_guard:
            return None
        guards = (m for m in self.player.world.monsters if m.species and m.species.vault_guard)
        return next((guard for guard in guards if guard.peaceful), None)
