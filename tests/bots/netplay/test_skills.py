"""NetPlay's skills in real games: what each does by itself, what it leaves to the player, how it fails."""

import pytest

from balrog_rag.bots.nethack.netplay.skills import OFFERED, OTHERS
from balrog_rag.contracts.data import Action
from balrog_rag.workers.host import HostedGame
from tests.bots.netplay.made import HOUSE, ROOM, Played, made
from tests.envs.support import nethack


def letter_of(game: Played, word: str) -> str:
    return next(line[0] for line in game.part("inventory").splitlines() if word in line)


def take(game: Played) -> None:
    """Pick everything up at the player's position."""
    for action in ("pickup", "press_key ,", "press_key ENTER"):
        if action == "pickup" or game.part("popup"):
            game.do(action)


def test_thirty_one_are_offered_and_eight_more_on_request() -> None:
    assert (len(OFFERED), len(OTHERS)) == (31, 8)
    few, all_ = (HostedGame(nethack(actions="skills", more_skills=more)).view for more in (False, True))
    assert [each.name for each in few.programs] == [each.name for each in OFFERED]
    assert len(all_.programs) == 39
    assert set(few.accepted) == {"nothing"}
    assert "pickup [x] [y]" in few.actions
    assert "move_to <x> <y>" in few.actions


def test_exploring_opens_doors_and_goes_on() -> None:
    game = made(HOUSE.format(door="closed") + "STAIR:(9,3),down\n")
    assert "A closed door at" in game.part("exploration")
    assert "A stairs down appeared" in game.do("explore_level")
    assert "open door at" in game.part("rooms")
    assert game.do("go_to 1").startswith("arrived in room 1")


def test_exploring_never_kicks() -> None:
    game = made(HOUSE.format(door="locked"))
    x, y = game.at("closed door")
    told = game.do("explore_level")
    assert "closed door" in game.part("rooms")
    assert "has been running" in told
    for _ in range(40):
        if "closed door" not in game.part("rooms"):
            break
        game.do(f"kick {x} {y}")
    assert "closed door" not in game.part("rooms")


def test_doors_are_opened_and_closed_from_beside_them() -> None:
    game = made(HOUSE.format(door="closed"))
    x, y = game.at("closed door")
    assert game.do(f"open_door {x} {y}").endswith("is open") or "appeared" in game.last.stopped
    assert game.here == (x - 1, y)
    for _ in range(9):
        if "closed door" not in game.part("rooms"):
            assert game.do(f"close {x} {y}") == "done"
    assert "closed door" in game.part("rooms")
    game.do("open_neighbor_doors")
    assert "open door" in game.part("rooms")
    assert game.do(f"open_door {x} {y}").startswith("failed: there is no closed door at")


def test_a_monster_is_pursued_until_it_is_gone() -> None:
    game = made(ROOM + "MONSTER:('F',\"lichen\"),(8,3)\nMONSTER:('x',\"grid bug\"),(6,2)\n")
    for word in ("grid bug", "lichen"):
        for _ in range(30):
            if word not in game.part("close monsters"):
                break
            x, y = game.at(f"- {word}")
            told = game.do(f"melee_attack {x} {y}")
            assert told == f"the {word} is gone" or told.startswith("interrupted"), told
        assert word not in game.part("close monsters")


def test_things_are_taken_used_and_put_down() -> None:
    game = made(
        ROOM
        + "OBJECT:('[',\"small shield\"),(4,2)\nOBJECT:('/',\"digging\"),(4,2)\n"
        + "OBJECT:('(',\"pick-axe\"),(4,2)\n"
    )
    x, y = game.here[0] + 3, game.here[1] + 1
    assert game.do(f"pickup {x} {y}") == "done"
    assert game.here == (x, y)
    assert "menu" in game.part("popup")
    game.do("press_key ,")
    game.do("press_key ENTER")
    shield, wand, pick = (letter_of(game, word) for word in ("shield", "wand", "pick-axe"))
    game.do(f"wear {shield}")
    assert "being worn" in game.part("inventory")
    game.do(f"takeoff {shield}")
    assert "being worn" not in game.part("inventory").split("shield")[1].splitlines()[0]
    game.do(f"zap {wand} e")
    assert game.part("popup") == ""
    game.do(f"apply {pick}")
    assert "In what direction" in game.part("popup")
    game.do("press_key ESC")
    game.do(f"drop {shield}")
    assert "shield" not in game.part("inventory")
    assert game.do("look") == "done"


def test_what_lies_here_is_declined_where_an_item_is_named() -> None:
    game = made(ROOM + "OBJECT:('%',\"apple\"),(1,1)\nOBJECT:('%',\"food ration\"),(1,1)\n")
    for action in ("pickup", "press_key a", "press_key ENTER"):
        game.do(action)
    letter = letter_of(game, "apple" if "apple" in game.part("inventory") else "ration")
    before = game.part("inventory")
    assert game.do(f"eat {letter}") in ("done", "interrupted: ")
    assert game.part("inventory") != before
    game.do("eat")
    assert "here; eat" in game.part("popup")


def test_monsters_are_hit_or_walked_round() -> None:
    corridor = ROOM.replace("|.........|\n" * 3, "|.........|\n" + "|---------|\n" * 2)
    game = made(corridor + "MONSTER:('F',\"lichen\"),(4,1),asleep\n")
    x, y = game.here
    game.do("set_avoid_monster_flag true")
    assert game.do(f"move_to {x + 6} {y}") == f"failed: no way leads to ({x + 6}, {y})"
    game.do("set_avoid_monster_flag false")
    for _ in range(20):
        if game.here == (x + 6, y):
            break
        game.do(f"move_to {x + 6} {y}")
    assert game.here == (x + 6, y)


def test_a_text_is_typed_and_a_prayer_said() -> None:
    game = made(ROOM)
    for action in ("press_key E", "press_key -", "type_text xyz", "press_key ENTER"):
        game.do(action)
    game.do("look")
    assert "xyz" in game.part("message")
    assert "not prayed yet" in game.part("you")
    assert game.do("pray") == "prayed"
    assert "You prayed" in game.part("you")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("move_to 300 5", "position (300, 5) is not on the map; x goes from 0 to 78, y from 0 to 20"),
        ("move_to -1 5", "position (-1, 5) is not on the map"),
        ("move_to 1 1", "no way leads to (1, 1)"),
        ("melee_attack 36 10", "there is no monster at (36, 10)"),
        ("go_to 77", "there is no room or corridor with number 77"),
        ("drop Q", "you carry nothing under the letter 'Q'"),
        ("zap Q n", "you carry nothing under the letter 'Q'"),
        ("pickup 5", "a position needs both x and y, or neither"),
        ("press_key F1", "'F1' is no key; write one character, or ESC, SPACE or ENTER"),
        ("press_key é", "'é' is no key"),
        ("type_text süß", "'ü' is on no key"),
        ("kick 35 10", "that is where you stand"),
        ("kick 1 1", "no way leads next to (1, 1)"),
    ],
)
def test_wrong_arguments_fail_in_one_line(call: str, told: str) -> None:
    game = made(ROOM)
    assert game.do(call).startswith(f"failed: {told}")
    assert "\n" not in game.last.stopped


def test_a_monster_that_turned_out_to_be_peaceful_is_walked_round() -> None:
    """The game asks once; the same call then leads around it, as it did not before."""
    game = made(ROOM + "MONSTER:('h',\"dwarf\"),(5,1),peaceful,asleep\n")
    x, y = game.here
    move = f"move_to {x + 8} {y}"
    assert "Really attack" in game.do(move)
    game.do("press_key ESC")
    assert game.do(move) == f"arrived at ({x + 8}, {y})"


def test_optional_parameters_stand_in_brackets() -> None:
    assert Action("rest", "", OFFERED[-2].parameters).form == "rest [count]"


def test_things_under_monsters_are_seen_without_a_turn() -> None:
    hidden = ROOM + "MONSTER:('h',\"dwarf\"),(3,1),peaceful,asleep\nOBJECT:('(',\"pick-axe\"),(3,1)\n"
    assert "pick-axe" not in made(hidden, refresh_hidden=False).part("rooms")
    game = made(hidden)
    turn = game.number("turn")
    assert "pick-axe at" in game.part("rooms")
    game.do("set_avoid_monster_flag true")
    assert (game.number("turn"), game.part("popup"), game.part("events")) == (turn, "", "")
    assert "dwarf" in game.part("close monsters")
    assert game.do("rest 1") == "rested for 1 turn"
