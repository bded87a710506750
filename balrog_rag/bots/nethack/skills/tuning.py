"""The numbers that the delver and its skills play by, each with its basis.

`source`: a line of NetHack 3.6.7. `measured`: paired games, difference in points of progression ± standard
error (docs/notes/2026-11-players.md). `chosen`: by judgement, not measured alone. Word lists, and the average
damage of weapons (`fight_cost.WEAPONS`, from objects.c), stay where they are used; what options change is a
default of `Plan`.
"""

from dataclasses import dataclass, field
from typing import Any, Final

SOURCE, MEASURED, CHOSEN = "source", "measured", "chosen"


def _source(value: Any, says: str, line: str) -> Any:
    """Return a number that follows from NetHack's source."""
    return field(default=value, metadata={"says": says, "kind": SOURCE, "basis": line})


def _measured(value: Any, says: str, figure: str) -> Any:
    """Return a number whose alternatives were played."""
    return field(default=value, metadata={"says": says, "kind": MEASURED, "basis": figure})


def _chosen(value: Any, says: str) -> Any:
    """Return a number that nobody has measured alone."""
    return field(default=value, metadata={"says": says, "kind": CHOSEN, "basis": ""})


_HIDDEN = "near the frequency at first searches of levels 1 to 4 (benchmarks/searches.py --games 200)"


@dataclass(frozen=True)
class Tuning:
    """One field for each number."""

    # Prayer
    first_prayer: int = _source(
        101,
        "turn from which a first prayer is heard",
        "u_init.c:644 begins at 300, allmain.c:195 counts down, pray.c:1819 hears 200 in major trouble",
    )
    next_prayer: int = _source(
        700,
        "turns after a prayer until the next is safe enough",
        "pray.c:1220 sets rnz(350), of which pray.c:1819 hears 200: 500 to 1,000 turns in most cases",
    )
    last_resort: int = _source(
        300,
        "turns after a prayer from which the next is heard about every second time",
        "pray.c:1220: the median of rnz(350) is 350, less the 200 of pray.c:1819",
    )
    low_hp: int = _source(5, "hit points that are always low for prayer", "pray.c:140 critically_low_hp()")
    low_shares: tuple[tuple[int, int], ...] = _source(
        ((30, 9), (22, 8), (14, 7), (6, 6), (0, 5)),
        "by least experience level, the share of the hit points that is low for prayer",
        "pray.c:118 critically_low_hp()",
    )
    low_hp_a_level: int = _source(
        15,
        "hit points a level beyond which more count for nothing in these shares",
        "pray.c:114: 15 * u.ulevel",
    )
    bound: int = _chosen(1500, "turns to wait for a prayer that may free hands which a cursed tool binds")
    bound_depth: int = _chosen(12, "the deepest level on which to wait for that")
    # Digging, and Elbereth in the pit
    pit_writings: int = _source(
        9,
        "how often Elbereth is written in one pit, and before there is one",
        "engrave.c:1055 spoils each letter one time in 25: 28 % of the writings, all nine never",
    )
    write_near: int = _measured(
        8,
        "squares within which an enemy is a reason to write before there is a pit",
        "no Elbereth before the pit -0.0 ± 1.7, always +1.1 ± 2.0 (human Archeologists, 120 games)",
    )
    write_depth: int = _measured(
        5, "depth from which one writes before the pit without an enemy in sight", "as write_near"
    )
    write_near_dwarf: int = _source(
        3,
        "write_near for dwarves",
        "dig.c:302 doubles a dwarf's effort each turn: a pit in two turns, less than writing takes",
    )
    write_depth_dwarf: int = _source(10, "write_depth for dwarves", "as write_near_dwarf")
    undaunted_sight: int = _chosen(
        8, "squares within which an enemy that ignores Elbereth is a reason not to write"
    )
    dig_spots: int = _chosen(4, "squares tried before the ground of a level is considered too hard")
    dig_walk: int = _chosen(30, "maximum number of steps to a place for a hole")
    tunnel_effort: int = _source(
        8, "cost of digging through a square, in steps", "dig.c:363: an effort of 100 at 10 to 14 a turn"
    )
    tunnel_longest: int = _chosen(300, "squares after which a tunnel is given up")
    burrows: int = _chosen(60, "tunnels begun on a level of the Mines to find the stairs up")
    strides: int = _measured(
        14,
        "steps up to which stairs are nearer than a hole",
        "22 steps -0.3 ± 0.2, 6 steps +0.0 ± 0.6 (human Archeologists, 120 games)",
    )
    strides_dwarf: int = _source(7, "the same for dwarves", "dig.c:302: a dwarf digs a hole in half the time")
    chased: int = _chosen(3, "squares within which an enemy makes the walk to stairs shorter")
    strides_chased: int = _chosen(2, "steps to stairs with such an enemy")
    crowd: int = _chosen(8, "enemies in sight that justify a charge of a wand of digging")
    pit_around: int = _chosen(
        3, "squares within which enemies are counted before a weak one is fought from the pit"
    )
    pit_affordable: float = _chosen(
        0.8, "share of the hit points that a fight from the pit may cost against what was felt, not seen"
    )
    pit_novice: int = _measured(
        1,
        "experience level up to which this holds for elves and others that ignore Elbereth, too; above, they "
        "are fought at any cost",
        "fought at any level -1.5 ± 0.4 (human Archeologists); never fought -0.8 ± 0.3 (300 games each)",
    )
    pit_losing: float = _chosen(
        0.5, "share of the hit points from which such a fight is lost, and to be left by any means"
    )
    pit_easy: float = _chosen(
        0.4, "share of the hit points up to which all around may cost when a weak one is fought from the pit"
    )
    dig_refusals: int = _chosen(2, "attempts without a word of refusal after which the ground is too hard")
    serious: int = _chosen(8, "expected loss of hit points from which a turn for another weapon is worth it")
    closet: int = _source(4, "squares of a vault", "mklev.c:41 create_vault(): 2 x 2 squares")
    # Elbereth to rest on, and retreat
    losing_praying: float = _measured(
        1.5,
        "share of the hit points that a fight may cost if a prayer may be heard",
        "1 instead -1.5 ± 0.9, 2.5 instead -1.3 ± 0.7 (300 games each)",
    )
    losing: float = _measured(
        0.7, "the same if not", "0.5 instead, and 0.5 for losing_low +0.2 ± 0.8 (300 games)"
    )
    losing_low: float = _measured(
        1 / 3, "share of the hit points below which no fight is fought on, if not", "as losing"
    )
    drink_low: float = _chosen(1 / 3, "share of the hit points below which what heals is drunk in a fight")
    drink_beset: float = _chosen(0.5, "the same if the next blows may take the rest")
    heal_below: float = _measured(
        0.5,
        "share of the hit points below which healing is cast in a fight",
        "only in fights that are being lost -1.8 ± 1.4 (Healers, 200 games)",
    )
    flee_cost: float = _chosen(0.5, "share of the hit points that a flight may cost")
    fall_first: float = _chosen(0.4, "share of the hit points below which one falls before writing Elbereth")
    fall_last: float = _chosen(0.7, "the same after it")
    recovered: float = _chosen(0.9, "share of the hit points with which one goes back to where one fled from")
    hold_tries: int = _chosen(3, "failures after which Elbereth is not written here again for a while")
    hold_anew: int = _chosen(30, "turns of that while")
    hold_longest: int = _chosen(
        60, "rests on one Elbereth after which the monsters around it are fought after all"
    )
    hold_below: float = _measured(
        0.7,
        "share of the hit points below which one writes Elbereth to rest on it",
        "half of them instead, with other changes +0.5 ± 1.2 (169 games); all of them -1.1 ± 0.8 (300)",
    )
    hold_until: float = _chosen(0.9, "share of the hit points at which one leaves it")
    hold_near: int = _chosen(4, "squares within which enemies are a reason to write before they arrive")
    slow: int = _source(
        6, "speed up to which an enemy is outrun", "permonst.h:71: the hero moves at NORMAL_SPEED 12"
    )
    flee_far: int = _chosen(40, "steps to stairs that are too many to run")
    repelled_flights: int = _chosen(
        2, "flights from a level of the main dungeon after which its stairs are held as in the Mines"
    )
    cover: int = _chosen(12, "steps to stairs for leaving a line of fire")
    easy: float = _chosen(
        0.3, "share of the hit points that a fight may cost without being a reason to stay on Elbereth"
    )
    shun: int = _chosen(300, "turns for which a level that was left in flight is not gone to with wounds")
    fire: int = _chosen(6, "turns for which more missiles are expected after one that hurt")
    # Fights
    enemy_sight: int = _chosen(10, "squares within which an enemy counts")
    chase_steps: int = _chosen(15, "steps towards a monster in vain after which it is left alone for a while")
    pet_about: int = _chosen(60, "turns since a pet was seen for which a blind hero may feel it")
    pet_doubted: int = _chosen(5, "turns after a wound in which who is felt is taken for an enemy")
    suspect_near: int = _chosen(
        6, "squares within which a monster believed peaceful is doubted when something hurts"
    )
    ambush: int = _chosen(25, "turns to wait on the stairs of the Mines for enemies in sight to come")
    sleep_wand: int = _source(6, "dice of 25 turns that a wand's ray of sleep rolls", "zap.c:3065 and 3658")
    sleep_die: int = _chosen(
        8, "turns for each of them, for which who was put to sleep is left out of account; 13 on average"
    )
    ray: int = _source(
        5,
        "free squares behind an enemy that keep a ray from bouncing back",
        "zap.c:4083: a ray is 7 to 13 squares long and fades two for each creature",
    )
    out_of_reach: int = _chosen(20, "turns for which an enemy that no path leads to is left alone")
    chase: int = _chosen(30, "steps that a peaceful dwarf is worth")
    murder_hp: float = _chosen(0.7, "share of the hit points below which none is attacked")
    murder_cost: float = _chosen(0.7, "share of the hit points that the fight may cost")
    crawling: int = _chosen(3, "speed up to which an enemy is gone to instead of awaited")
    tired: int = _chosen(60, "turns for which an enemy that was chased in vain is left alone")
    blast_near: int = _source(
        2,
        "squares within which an exploding monster is kept off",
        "explode.c: explosions reach the squares next to their centre",
    )
    blast_hp: int = _source(
        24, "hit points that survive an explosion of a gas spore", "monst.c:303: 4d6, at most 24"
    )
    blast_wait: int = _chosen(20, "turns rested at a time before an explosion is set off")
    obstacle_efforts: int = _chosen(40, "efforts against a monster in the way")
    lures: int = _chosen(4, "attempts to lure it out")
    stuck_searches: int = _chosen(
        15, "searches on a level after which a floating eye in the way is attacked regardless"
    )
    well: float = _chosen(0.8, "share of the hit points below which it is not")
    throw_reach: int = _source(
        9,
        "squares at which missiles are thrown",
        "dothrow.c:1209: strength 18 throws 9 squares, less the weight over 40",
    )
    shooting_stand: int = _chosen(5, "squares from which one shoots what must not be touched")
    missile_flight: int = _chosen(13, "squares over which a missile that misses may fly")
    town_depth: int = _source(
        5, "first depth of Minetown", "dungeon.def:74: level 3 or 4 of the Mines, which begin on depth 3 to 5"
    )
    lure_far: int = _chosen(4, "squares between a lured monster and where it is awaited")
    lure_wide: int = _chosen(5, "free squares beside where it is awaited")
    lure_waits: int = _chosen(40, "waits for it")
    lure_wait: int = _chosen(5, "turns of each")
    normal_speed: int = _source(12, "speed of a creature that acts once a turn", "permonst.h:71 NORMAL_SPEED")
    to_hit_die: int = _source(20, "sides of the die for hitting", "mhitu.c:683, uhitm.c:579: rnd(20)")
    unknown_level: int = _chosen(3, "level of a monster that was felt but not seen")
    unknown_damage: float = _chosen(5.0, "damage of such a monster")
    unknown_armor: int = _chosen(6, "armour class of such a monster")
    our_aim: int = _source(2, "added to our rolls, besides level and armour", "uhitm.c:266: 1, and skill")
    their_aim: int = _source(10, "added to theirs", "mhitu.c:572: AC_VALUE(u.uac) + 10")
    likeliest: float = _source(0.95, "highest chance of our blows", "uhitm.c:579: a roll of 20 misses most")
    unlikeliest: float = _chosen(0.1, "lowest chance of our blows that is reckoned with")
    always_hit: float = _source(0.05, "lowest chance of theirs", "mhitu.c:683: a roll of 1 hits most")
    least_damage: float = _source(0.5, "lowest damage of theirs", "mhitu.c:1699: armour leaves 1 of each hit")
    worst: float = _chosen(2.2, "the likely maximum of a monster's damage, by its average")
    hp_a_level: float = _source(4.5, "average hit points of a monster's level", "makemon.c:1011: d(m_lev, 8)")
    least_hp: float = _source(2.5, "average hit points of a monster of level 0", "makemon.c:1009: rnd(4)")
    strong: int = _source(16, "strength above which blows do more damage", "weapon.c:929 dbon()")
    strength_damage: float = _source(0.7, "damage of each point above", "weapon.c:929 dbon(): 2 at 18")
    bare_hands: float = _source(1.5, "average damage of bare hands", "uhitm.c:710 hmon_hitmon(): rnd(2)")
    other_weapon: float = _source(
        1.5, "average damage of what is not a weapon", "uhitm.c:742 hmon_hitmon(): rnd(2)"
    )
    martial_arts: float = _source(
        9.0,
        "average damage of martial arts",
        "uhitm.c:708 rnd(4), uhitm.c:707 and weapon.c:1558: more for martial users by skill",
    )
    volley: float = _source(
        7.0,
        "average damage of a Ranger's volley",
        "objects.c:113 and dothrow.c:107-196: d6 and enchantment, one or two arrows, three for elves",
    )
    enchanted: float = _chosen(1.5, "average damage that a point of enchantment is worth, with what it hits")
    in_hand: float = _chosen(0.6, "average damage by which another weapon must be better to be changed to")
    weld: float = _chosen(
        2.5, "average damage by which a weapon that may be cursed must be better: about one in eight is"
    )
    spell_failure: int = _chosen(50, "percent of failure above which a spell is not tried")
    spell_failures: int = _chosen(
        4, "failures after which a spell is not tried again: worn armour may prevent it"
    )
    wand_failures: int = _chosen(2, "how often zapping a wand of digging may fail")
    # Rest, food and things
    rest_starved: float = _chosen(0.6, "share of the hit points up to which one rests though hungry")
    rest_elsewhere: int = _chosen(20, "turns without rest after a shot from out of sight")
    guard_gone: int = _chosen(50, "turns since the guard of a vault was seen in which no gold is picked up")
    cheap: int = _source(
        50,
        "gold pieces below which none can be bought",
        "objects.c:249 and 703: mattock and pick-axe cost 50",
    )
    sale: int = _chosen(30, "gold pieces that a scroll, potion or the like may bring")
    shop_waits: int = _chosen(20, "how often one waits on a level for a shopkeeper to step aside")
    cheap_food: int = _source(
        10, "gold pieces below which no food is bought", "objects.c:727: nutrition / 20 + 5, 7 for an apple"
    )
    rich: int = _chosen(200, "gold pieces with which food is bought before hunger comes")
    tried_again: int = _chosen(100, "turns after which a way to food is looked for again")
    fresh: int = _source(
        30,
        "turns for which a corpse is certainly fresh",
        "eat.c:1609: age / (10 + rn2(20)) above 5 is tainted, above 3 may harm",
    )
    untainted: int = _source(
        50,
        "turns for which a hungry hero eats a corpse, which may cost 8 hit points but never kills",
        "eat.c:1609, as above",
    )
    to_corpse: int = _chosen(10, "squares up to which one walks to a corpse to eat it")
    upset: int = _source(
        20,
        "hit points above which a fainting hero eats poisonous and acid corpses",
        "eat.c:1640 and 1653: these cost up to 15",
    )
    rest_turns: int = _chosen(20, "turns rested at a time")
    take_off_tries: int = _chosen(2, "attempts to take off a shield for a tool, or armour for mithril")
    eat_tries: int = _chosen(3, "attempts to eat a thing after which it is left")
    # Finding the way
    cautious_searches: int = _chosen(3, "searches of a level after which its known traps are walked on")
    step_tries: int = _chosen(3, "steps that fail without a stated reason before they are given up")
    door_kicks: int = _source(
        15,
        "efforts to open a door",
        "dokick.c:1276: rnl(35) below the mean of three attributes opens it, about every third kick",
    )
    search_at_once: int = _chosen(8, "turns searched at one square in a row")
    search_missed: float = _source(
        6 / 7, "share of what is hidden that a turn of searching misses", "detect.c:1733: rnl(7)"
    )
    chance_ahead: float = _measured(0.15, "chance of a way on ahead of the end of a corridor", _HIDDEN)
    chance_aside: float = _measured(0.07, "the same on either side of it", _HIDDEN)
    chance_passage: float = _measured(
        0.001, "the same beside a corridor or a door, in a niche, or where the other side is known", _HIDDEN
    )
    chance_east_west: float = _measured(
        0.06, "chance of a door in an east or west wall with room for a room behind", _HIDDEN
    )
    chance_north_south: float = _measured(0.03, "the same in a north or south wall", _HIDDEN)
    chance_narrow: float = _measured(0.0025, "the same in any wall with less, but some room behind", _HIDDEN)
    chance_cut_off: float = _chosen(0.3, "chance before a place that is seen, but not reached")
    room_behind: int = _measured(10, "unknown squares behind a wall that have room for a room", _HIDDEN)
    stairs_tries: int = _chosen(3, "refusals after which stairs are not taken")
    pet_enemy: int = _chosen(8, "squares within which no enemy may be while waiting for a pet")
    pet_turns: int = _chosen(30, "turns to wait for it")
    pet_depth: int = _chosen(4, "last level of the main dungeon where a pet is worth the time")
    pet_lost: int = _chosen(200, "turns since it was last seen after which it is not waited for")
    sokoban_above: int = _source(
        9,
        "deepest level with stairs to Sokoban",
        "dungeon.def: the Oracle on 5 to 9, the stairs one level below; 10 is rare",
    )
    climb: int = _measured(
        30,
        "steps to stairs up that are worth holding a level",
        "aim=held: +16.0 ± 2.4 held (60 games); other distances were not tried",
    )
    wait: int = _chosen(20, "turns waited at a time")
    baffled_wait: int = _chosen(10, "turns searched where there is nowhere to go")
    longest_walk: int = _chosen(316, "steps after which a walk ends, four times the width of the map")
    short_wait: int = _chosen(5, "turns waited at a time with enemies about")
    mines_given_up: int = _chosen(
        40, "searches on a level of the Mines after which no way on is expected: crowds may block it for long"
    )
    forgiving: int = _chosen(
        12, "searches for passages after which doors and steps that failed are tried again"
    )
    dug_lately: int = _chosen(150, "turns since somebody was heard to dig for which the digger is awaited")
    listen_longest: int = _chosen(50, "waits for a digger on one level")
    deepest_entrance: int = _source(
        4,
        "last level from which stairs may lead to the Mines",
        "dungeon.def: BRANCH 'The Gnomish Mines' @ (2, 3), levels 2 to 4",
    )
    too_deep: int = _chosen(6, "last level from which one goes back up to look for them")
    idle: int = _chosen(5, "moves without effect after which time is made to pass")


TUNING: Final = Tuning()
