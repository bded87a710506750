"""The options of a game of NetHack or MiniHack under env.options."""

from typing import Annotated, Any, Literal

import msgspec

from balrog_rag.contracts.data import GameSpec


class NetHackOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a game of NetHack; the defaults are BALROG's values except for `actions`."""

    character: Annotated[str, msgspec.Meta(description="e.g. @ (any) or val-dwa-law-fem")] = "@"
    actions: Annotated[
        Literal["full", "balrog", "skills", "plan"],
        msgspec.Meta(
            description="full: every answer that works is taken; balrog: exactly those that BALROG takes; "
            "skills: NetPlay's skills in place of keys; plan: skills at the level of decisions"
        ),
    ] = "full"
    more_skills: Annotated[
        bool, msgspec.Meta(description="with actions=skills: also those that NetPlay has and does not offer")
    ] = False
    stop_for_things: Annotated[
        bool,
        msgspec.Meta(
            description="with actions=skills: stop a skill when an object, an altar, a fountain or a way "
            "down comes into view; false: only report it"
        ),
    ] = True
    layout: Annotated[
        Literal["hybrid", "language", "image"],
        msgspec.Meta(
            description="hybrid: words and the map; language: words; image: words and a picture of the map"
        ),
    ] = "hybrid"
    skip_more: Annotated[bool, msgspec.Meta(description="press through --More-- and join the messages")] = (
        True
    )
    level_memory: Annotated[
        Literal["text", "map", "none"] | msgspec.UnsetType,
        msgspec.Meta(
            description="with actions=plan: what is remembered of the levels is shown as text, as text with "
            "a map of the present level, or not at all"
        ),
    ] = msgspec.UNSET
    advice: Annotated[
        bool | msgspec.UnsetType,
        msgspec.Meta(description="with actions=plan: observations say what the delver would do now"),
    ] = msgspec.UNSET
    no_progress: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            description="key presses without game time passing after which a game is ended; 0: never",
        ),
    ] = 150
    refresh_hidden: Annotated[
        bool,
        msgspec.Meta(
            description="with actions=skills: look after each at the map without "
            "monsters, so that things under them are known"
        ),
    ] = True
    no_progress_calls: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            description="skills in a row without game time after which a game is ended; 0: never",
        ),
    ] = 10
    autopickup: Annotated[
        bool | None,
        msgspec.Meta(
            description="pick up what one steps on; null: as BALROG in its tasks, elsewhere as the task"
        ),
    ] = None
    # Left out of specs unless set, so that the digests of games with their own names stay as they are.
    renamed: Annotated[
        int | msgspec.UnsetType | None,
        msgspec.Meta(
            description="seed of invented words for the names of monsters, items, gods, roles and races "
            "in all that an agent reads; unset: the game's own names"
        ),
    ] = msgspec.UNSET


class MiniHackOptions(NetHackOptions, frozen=True, forbid_unknown_fields=True):
    """Options of a MiniHack task."""

    des_file: Annotated[
        str | None, msgspec.Meta(description="the level description of a Custom task, as its text")
    ] = None


INTERFACE = frozenset(
    {
        "actions",
        "more_skills",
        "stop_for_things",
        "layout",
        "skip_more",
        "refresh_hidden",
        "level_memory",
        "advice",
        "no_progress_calls",
        "renamed",
    }
)
"""Options that say how a game is shown and played, not which game it is."""


SKILLED = ("skills", "plan")
"""Values of `actions` that offer skills instead of keys."""


def nethack_options(game: GameSpec) -> NetHackOptions:
    """Return the options that NetHack and MiniHack share."""
    names = NetHackOptions.__struct_fields__
    own = {name: value for name, value in game.options.items() if name in names}
    return msgspec.convert(own, NetHackOptions)


def minihack_options(game: GameSpec) -> MiniHackOptions:
    """Return the options of a MiniHack task, complete."""
    return msgspec.convert(game.options, MiniHackOptions)


def shows_pictures(options: Any) -> bool:
    """Whether observations carry a picture of the map."""
    return bool(options.get("layout") == "image")
