"""Spells and wands."""

import re

from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal

NO_SPELL, NO_MAP = Told.NO_SPELL, Told.NO_MAP
FORCE_BOLT, SLEEP, HEALING, EXTRA_HEALING = "force bolt", "sleep", "healing", "extra healing"
_POWER = {FORCE_BOLT: 5, SLEEP: 5, HEALING: 5, EXTRA_HEALING: 15, "magic missile": 10}
_SPELL = re.compile(r"([a-zA-Z]) - (.+?) {2,}\d+\*? +\w+ +(\d+)%")

_SPEED = "speed monster"
_SIGNS = {
    "stop moving": "sleep or death",
    "ice cubes": "cold",
    "speed up": _SPEED,
    "slow down": "slow monster",
    "fights your attempt": "striking",
    "vanishes": "teleportation, cancellation or make invisible",
    "bullet holes": "magic missile",
}
"""What the messages of an engraving tell of a wand (NetHack 3.6.7, doengrave in engrave.c)."""
ATTACK_WANDS = ("sleep", "striking", "magic missile", "cold", "fire", "lightning", "slow monster")
"""Wands that help in a fight when pointed at an enemy, the best first."""


def spells(player: Player) -> Skill:
    """Read which spells are known, and how likely each fails."""
    yield from player.begin()
    yield from player.press(keys.CAST)
    player.spells = {}
    for line in player.screen.lines():
        found = _SPELL.search(line)
        if found and int(found[3]) <= TUNING.spell_failure:
            player.spells[found[2].strip()] = found[1]
    yield from player.close()
    return ", ".join(player.spells) or "no spells"


def can_cast(player: Player, name: str) -> bool:
    """Whether a spell is known and there is enough power for it."""
    body = player.body
    return name in player.spells and body.power >= _POWER[name] and body.hunger < w.WEAK


def cast(player: Player, name: str, place: int) -> Skill:
    """Cast a spell towards a square, or at ourselves."""
    if not can_cast(player, name):
        return NO_SPELL
    key = chr(t.heading(player.here, place)) if place != player.here else "."
    yield from player.begin()
    yield from player.press(keys.CAST)
    if player.screen.menu:
        yield from player.press(ord(player.spells[name]))
        yield from player.answer(("In what direction", key), ("", "\x1b"))
    yield from player.close()
    if player.said("You fail to cast"):
        player.refusals[Refusal(Act.CAST, name)] += 1
        if player.refusals[Refusal(Act.CAST, name)] >= TUNING.spell_failures:
            player.spells.pop(name)
    return Told.CAST


def kind_of_wand(player: Player, item: Item) -> str:
    """What a wand does, by its name or by what engraving told; empty if unknown, and for other items."""
    return item.name.partition("wand of ")[2] or player.wands.get(item.name, "")


def attack_wand(player: Player) -> Item | None:
    """A wand to point at an enemy."""
    fresh = [item for item in player.world.items if not player.refusals[Refusal(Act.ZAP, item.text)]]
    for name in ATTACK_WANDS:
        for item in fresh:
            if name in kind_of_wand(player, item) and "(0:0)" not in item.text:
                return item
    return None


def zap(player: Player, item: Item, direction: str) -> Skill:
    """Zap a wand in a direction."""
    yield from player.ask(keys.ZAP, ("want to zap", item.letter), ("In what direction", direction))
    if player.said("You wrest", "nothing happens", "Nothing happens"):
        player.refusals[Refusal(Act.ZAP, item.text)] += 1
    return Told.ZAPPED


def digging_wand(player: Player) -> Item | None:
    """A wand that may make a hole here."""
    if player.level.terrain[player.here] in t.STAIRS:
        return None
    for item in player.world.items:
        if (
            "wand of digging" in item.name
            and player.refusals[Refusal(Act.ZAP, item.text)] < TUNING.wand_failures
        ):
            return item
    return None


def zap_down(player: Player, item: Item) -> Skill:
    """Make a hole with a wand of digging, and fall through it."""
    level = player.level
    yield from player.ask(keys.ZAP, ("want to zap", item.letter), ("In what direction", ">"))
    if player.level is not level:
        return Told.HOLE
    player.refusals[Refusal(Act.ZAP, item.text)] += 1
    return Told.NO_HOLE


def read_map(player: Player) -> Skill:
    """Read a scroll of magic mapping, once on each level."""
    name = Refusal(Act.MAP, player.level.place)
    item = player.world.item("scroll of magic mapping", "scrolls of magic mapping")
    if item is None or player.refusals[name] or player.body.condition & w.BLIND:
        return NO_MAP
    player.refusals[name] += 1
    yield from player.ask(keys.READ, ("want to read", item.letter))
    return Told.READ


def unknown_wand(player: Player) -> Item | None:
    """A wand whose effect is unknown."""
    for item in player.world.items:
        if item.name.endswith(" wand") and not player.refusals[Refusal(Act.TRY, item.text)]:
            return item
    return None


def try_wand(player: Player, item: Item) -> Skill:
    """Write a letter with a wand: several kinds show what they are only after something was written."""
    yield from player.ask(
        keys.ENGRAVE,
        ("want to write with", item.letter),
        ("add to the current", "n"),
        ("Do you want to", "n"),
        ("here?", "x"),
    )
    now = player.world.carried(item.letter) or item
    told = " ".join(player.heard)
    meaning = next((meaning for words, meaning in _SIGNS.items() if words in told), "")
    if meaning:
        player.wands[now.name] = meaning
    player.refusals[Refusal(Act.TRY, now.text)] += 1
    return Told.TRIED


def speed_wand(player: Player) -> Item | None:
    """A wand of speed monster, if we have not yet sped up: the speed stays."""
    if player.refusals[Refusal(Act.ZAP, _SPEED)]:
        return None
    return next((each for each in player.world.items if kind_of_wand(player, each) == _SPEED), None)


def speed_up(player: Player, item: Item) -> Skill:
    """Zap ourselves with it."""
    player.refusals[Refusal(Act.ZAP, _SPEED)] += 1
    return (yield from zap(player, item, "."))
