"""What interrupts a skill: the declared events, noticed by comparing the game before and after every key."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from balrog_rag.bots.nethack.plan.plan_game import PlanGame, monster_words
from balrog_rag.envs.nethack.conditions import CONDITIONS, HUNGER
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.names import FEATURES, NEWS, position

LOW = 0.4
"""The share of hit points below which health is low."""
_HARM = 0.25
"""The share of all hit points that one call may cost before it is interrupted."""
_HARMLESS = frozenset(("Deaf", "Fly", "Ride"))
_DEADLY = frozenset((*HUNGER[w.WEAK :], *CONDITIONS[: CONDITIONS.index("Blind")]))

_MEANINGS = {
    "Stone": ", turning to stone within five turns; a prayer, a lizard or an acidic corpse helps",
    "Slime": ", turning into slime within ten turns; a prayer or fire helps",
    "Strngl": ", strangled within six turns; take the amulet off, or pray",
    "FoodPois": ", dying of food poisoning within 20 turns; a prayer helps",
    "TermIll": ", dying of an illness within 20 turns; a prayer helps",
}
"""What deadly conditions mean, by their words in the bottom line."""

EVENTS = {
    "level": "another level of the dungeon",
    "health": "hit points fell below 40 %",
    "harm": "a quarter of all hit points were lost since the call began",
    "monster": "a monster came into view that is not known to be peaceful",
    "feature": "stairs down, an altar or a fountain came into view (env.stop_for_things=false: no)",
    "status": "hunger, blindness, illness or another condition began",
    "deadly": "weakness from hunger, illness, petrification or another deadly condition began",
    "message": "the game said something that changes what is wise",
    "turns": "the call took as many turns as it may",
}
"""Every event that may interrupt a skill."""

_MESSAGES = (
    *("You feel feverish", "is displeased", "Closed for inventory", "cannot escape", "You turn into"),
    *("swallows you", "engulfs you", "swings itself around you", "Your purse feels lighter", "stole "),
    *("You are slowing down", "Your limbs", "You have a sad feeling", "gets angry", "You murderer"),
    *("You hear the shrieks", "Usage fee", "You stole", "Stop, thief", "leave your"),
)
"""Parts of messages after which a player would want to decide anew."""
_GREETING = re.compile(r"Welcome (?:again )?to (?!experience)")
"""That of a shopkeeper, not that of another experience level."""


@dataclass(frozen=True)
class PlanEvent:
    """Something that interrupts a skill."""

    kind: str
    text: str
    monster: Monster | None = None
    """The monster that came into view."""


@dataclass
class Watch:
    """Compares the game with how it was; `stops` are the kinds of events that matter to a skill."""

    game: PlanGame
    stops: Collection[str]
    most_turns: int
    for_things: bool = True
    _place: Place = Place(0, 0)
    _met: set[int] = field(default_factory=set)
    _features: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        body = self.game.player.body
        self.begun, self.begun_hp, self._hp = body.turn, body.hp, body.hp
        self._condition, self._hunger = body.condition, body.hunger
        self._arrive()

    def _arrive(self) -> None:
        player = self.game.player
        self._place = player.world.place
        self._met |= {monster.number for monster in player.world.monsters}
        self._features = _features(player.level)

    @property
    def turns(self) -> int:
        """Turns since the call began."""
        return self.game.player.body.turn - self.begun

    def see(self) -> PlanEvent | None:
        """Return the most important event since the last key, if it matters."""
        player = self.game.player
        if player.world.over or player.screen.more:  # on a page the map and the bottom lines may not agree
            return None
        found = [event for event in self._events() if event.kind in self.stops]
        return found[0] if found else None

    def _events(self) -> list[PlanEvent]:
        player = self.game.player
        found = [*self._bodily(), *self._said()]
        if player.world.place != self._place:
            self._arrive()
            near = ", ".join(monster_words(player, enemy) for enemy in player.hostiles(8)[:3])
            text = f"you are on Dlvl {player.body.depth} now" + (f"; {near}" if near else "")
            return [*found, PlanEvent("level", text)]
        found += self._in_view()
        if self.turns >= self.most_turns:
            found.append(PlanEvent("turns", f"{self.turns} turns have passed"))
        return found

    def _bodily(self) -> list[PlanEvent]:
        body, found = self.game.player.body, []
        before, low = self._hp, LOW * body.max_hp
        self._hp = body.hp
        if body.hp < low and (before >= low or (body.hp < before < low and "harm" in self.stops)):
            found.append(PlanEvent("health", f"{body.hp} of {body.max_hp} hit points are left"))
        if body.hp < before and self.begun_hp - body.hp >= _HARM * body.max_hp:
            found.append(PlanEvent("harm", f"{self.begun_hp - body.hp} hit points were lost"))
        new = body.condition & ~self._condition
        began = [word for bit, word in enumerate(CONDITIONS) if new >> bit & 1 and word not in _HARMLESS]
        if body.hunger > self._hunger and body.hunger >= w.HUNGRY:
            began.append(HUNGER[min(body.hunger, len(HUNGER) - 1)])
        self._condition, self._hunger = body.condition, body.hunger
        for word in began:
            text = f"you are {word} now{_MEANINGS.get(word, '')}"
            found += [PlanEvent(kind, text) for kind in _kinds(word)]
        return found

    def _said(self) -> list[PlanEvent]:
        message = self.game.player.world.message
        matters = any(words in message for words in _MESSAGES) or _GREETING.search(message)
        return [PlanEvent("message", message)] if matters else []

    def _in_view(self) -> list[PlanEvent]:
        player, found = self.game.player, []
        dazed = player.body.condition & w.HALLUCINATING  # every monster looks like another one each turn
        for enemy in player.hostiles() if "monster" in self.stops and not dazed else ():
            if enemy.number not in self._met:
                self._met.add(enemy.number)
                found.append(PlanEvent("monster", f"{monster_words(player, enemy)}, came into view", enemy))
        if self.for_things and "feature" in self.stops:
            features = _features(player.level)
            for place in sorted(features - self._features):
                name = FEATURES[player.level.terrain[place]]
                found.append(PlanEvent("feature", f"{name} at {position(place)} came into view"))
            self._features = features
        return found


def _kinds(word: str) -> tuple[str, ...]:
    """The events that a condition is."""
    return ("deadly", "status") if word in _DEADLY else ("status",)


def _features(level: Level) -> set[int]:
    return set(level.spots(NEWS))
