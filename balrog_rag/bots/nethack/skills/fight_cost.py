"""Estimate the cost of a fight from common knowledge of monsters and weapons."""

from collections.abc import Sequence

from balrog_rag.bots.nethack.skills.missiles import shoots_volleys
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.player import Player
from balrog_rag.envs.nethack.world.species import Species

WEAPONS = {
    "two-handed sword": 6.5,
    "tsurugi": 8.5,
    "runesword": 5.0,
    "dwarvish mattock": 6.5,
    "broad pick": 6.5,
    "katana": 5.5,
    "samurai sword": 5.5,
    "broadsword": 5.0,
    "long sword": 4.5,
    "battle-axe": 7.0,
    "double-headed axe": 7.0,
    "morning star": 5.0,
    "war hammer": 3.5,
    "mace": 4.5,
    "scimitar": 4.5,
    "flail": 4.5,
    "crysknife": 5.5,
    "dwarvish spear": 4.5,
    "axe": 3.5,
    "trident": 4.5,
    "lance": 3.5,
    "dwarvish short sword": 4.0,
    "broad short sword": 4.0,
    "elven broadsword": 6.0,
    "runed broadsword": 6.0,
    "elven spear": 4.0,
    "elven short sword": 4.5,
    "short sword": 3.5,
    "spear": 3.5,
    "pick-axe": 3.5,
    "quarterstaff": 3.5,
    "club": 3.5,
    "elven dagger": 3.0,
    "dagger": 2.5,
    "aklys": 3.5,
    "scalpel": 2.0,
    "knife": 2.0,
    "bullwhip": 1.5,
}
"""Average damage of wielded weapons; the first name that is part of an item's name counts."""


def our_damage(player: Player) -> float:
    """Average damage of our hits, or of our volleys: with a bow in hand we shoot also what is next to us."""
    if shoots_volleys(player):
        return TUNING.volley
    strength = max(0, player.body.strength - TUNING.strong) * TUNING.strength_damage
    item = next((item for item in player.world.items if item.wielded), None)
    if item is None:
        return strength + (TUNING.martial_arts if player.role == "Monk" else TUNING.bare_hands)
    base = next((amount for name, amount in WEAPONS.items() if name in item.name), TUNING.other_weapon)
    return base + strength + (item.enchantment or 0)


def blows_to_kill(player: Player, species: Species | None) -> float:
    """Turns that we need to kill such a monster."""
    level = species.level if species else TUNING.unknown_level
    armor = species.armor if species else TUNING.unknown_armor
    hits = (TUNING.our_aim + armor + player.body.level) / TUNING.to_hit_die
    hit_points = max(TUNING.least_hp, TUNING.hp_a_level * level)
    return max(1.0, hit_points / our_damage(player)) / min(TUNING.likeliest, max(TUNING.unlikeliest, hits))


def damage_a_turn(player: Player, species: Species | None) -> float:
    """Average hit points per turn that such a monster next to us costs."""
    if species is None:
        return TUNING.unknown_damage / 2
    armor = player.body.armor
    hits = (TUNING.their_aim + species.level + armor) / TUNING.to_hit_die
    absorbed = -armor / 2 if armor < 0 else 0
    damage = max(TUNING.least_damage, species.damage - absorbed)
    return damage * min(1.0, max(TUNING.always_hit, hits)) * species.speed / TUNING.normal_speed


def worst_a_turn(player: Player, species: Species | None) -> float:
    """Likely maximum of hit points that such a monster costs us in one turn."""
    if species is None:
        return 2 * TUNING.unknown_damage
    return TUNING.worst * species.damage * max(1.0, species.speed / TUNING.normal_speed)


def cost_of(player: Player, enemies: Sequence[Monster]) -> float:
    """Average hit points that a fight against all of them to the end costs."""
    order = sorted(enemies, key=lambda m: blows_to_kill(player, m.species))
    turns = cost = 0.0
    for enemy in order:
        if enemy.helpless > player.body.turn:
            continue
        turns += blows_to_kill(player, enemy.species)
        cost += turns * damage_a_turn(player, enemy.species)
    return cost


def adjacent(player: Player, enemies: Sequence[Monster]) -> list[Monster]:
    """Those of them that are next to us."""
    return [enemy for enemy in enemies if t.distance(enemy.place, player.here) == 1]
