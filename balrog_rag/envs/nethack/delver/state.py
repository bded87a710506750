"""What the player keeps in mind beyond what it saw."""

from dataclasses import dataclass, field

from balrog_rag.envs.nethack.skills import gear, surviving
from balrog_rag.envs.nethack.skills.judging import cost_of
from balrog_rag.envs.nethack.skills.player import Player
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world import world as w
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.world import Monster

_SIGHT = 10
"""Squares within which an enemy counts."""


@dataclass(frozen=True)
class Plan:
    """What can be tuned."""

    growth: tuple[int, ...] = (1, 1, 2, 4, 5)
    """Experience level wanted for going to depth 1, 2, 3, ... in the main dungeon."""
    mines: int = 6
    """Experience level wanted for the Gnomish Mines."""
    patience: int = 12_000
    """Turns after which growing is over."""
    rest_below: float = 0.7
    rest_until: float = 0.95


@dataclass
class Bot:
    """A player with a plan."""

    player: Player
    plan: Plan = Plan()
    why: str = ""
    """The rule that is followed."""
    hp: int = 0
    """Hit points when the rule began to be followed."""
    resting: bool = False
    looked: set[tuple[Place, int, int]] = field(default_factory=set)
    """Things that were looked at: level, square, glyph."""
    ignored: dict[int, int] = field(default_factory=dict)
    """Until when a monster out of reach is ignored."""

    def enemies(self) -> list[Monster]:
        """Monsters to be reckoned with now, the nearest first."""
        player = self.player
        return [monster for monster in player.hostiles(_SIGHT) if self._matters(monster)]

    def victims(self) -> list[Monster]:
        """Peaceful dwarves worth killing for what they may dig with."""
        player = self.player
        if gear.digger(player) or player.body.hp < 0.7 * player.body.max_hp:
            return []
        found = [m for m in player.world.monsters if m.peaceful and m.species and m.species.name == "dwarf"]
        return [
            m
            for m in found
            if player.body.turn >= self.ignored.get(id(m), 0) and cost_of(player, [m]) < 0.7 * player.body.hp
        ]

    def _matters(self, monster: Monster) -> bool:
        near = t.distance(monster.place, self.player.here) == 1
        species = monster.species
        if species and (species.never_touch or (species.stays and not near)):
            return False
        return near or self.player.body.turn >= self.ignored.get(id(monster), 0)

    def ignore(self, monsters: list[Monster], turns: int) -> None:
        """Leave monsters out of account for a while, unless they come near."""
        for monster in monsters:
            self.ignored[id(monster)] = self.player.body.turn + turns

    def alarm(self) -> bool:
        """Whether something came up that a longer undertaking should be left for."""
        player = self.player
        hurt, self.hp = player.body.hp < self.hp, player.body.hp
        hungry = player.body.hunger >= w.WEAK and surviving.may_pray(player)
        return hurt or hungry or player.world.over or bool(self.enemies())
