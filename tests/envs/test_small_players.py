"""The players of BabyAI and Crafter at forks of their ways: walls, doors, detours, and where to look."""

import numpy as np
import pytest

from balrog_rag.envs.babyai.agent_view import view_of
from balrog_rag.envs.babyai.levels import Level
from balrog_rag.envs.babyai.player import Place, Thing, _Player, _view, play
from balrog_rag.envs.babyai.words import describe
from balrog_rag.envs.crafter.player import Scene, Sight
from balrog_rag.envs.crafter.player import _Player as Crafting
from balrog_rag.envs.crafter.words import surroundings
from balrog_rag.envs.small_engine import Moment

NOTHING = Moment("")


def seeing(*lines):
    """A player of BabyAI at the start of a game in which this is seen."""
    return _Player(Moment("\n".join(lines)))


def taken(steps, answers=()):
    """The actions of a generator, each answered by the next of these texts."""
    answers, actions = iter(answers), []
    try:
        action = next(steps)
        while len(actions) < 50:
            actions.append(action)
            action = steps.send(Moment(next(answers, "")))
    except StopIteration:
        pass
    return actions


@pytest.mark.parametrize(
    ("line", "cell", "thing"),
    [
        ("a red key 2 steps left and 1 step forward", (-2, -1), Thing("red", "key")),
        ("a locked blue door 3 steps forward", (0, -3), Thing("blue", "door")),
        ("an open yellow door 1 step right", (1, 0), Thing("yellow", "door")),
        ("a closed door 1 step right", (1, 0), Thing("", "door")),
        ("You carry a red key", None, None),
        ("", None, None),
    ],
)
def test_a_thing_is_put_on_the_map_where_it_is_seen(line, cell, thing):
    player = seeing(line)
    assert player.things == ({} if cell is None else {cell: thing})
    if cell is not None:
        assert not player.is_free(cell)


@pytest.mark.parametrize(
    ("line", "free", "not_free"),
    [
        ("a wall 3 steps forward", [(0, -2), (5, -2)], [(0, -3), (5, -3), (0, -6)]),
        ("a wall 2 steps right", [(1, 0), (1, 5)], [(2, 0), (2, 5), (6, 0)]),
        ("a wall 1 step left", [(0, 0), (0, -3)], [(-1, 0), (-1, -3)]),
    ],
)
def test_a_wall_bounds_the_room_all_along(line, free, not_free):
    player = seeing(line)
    assert [cell for cell in free if not player.is_free(cell)] == []
    assert [cell for cell in not_free if player.is_free(cell)] == []


def test_a_wall_that_is_seen_after_a_turn_bounds_the_side_that_one_looks_at():
    player = seeing()
    taken(player.take("turn right"), ["a wall 2 steps forward"])
    assert player.place == Place((0, 0), 1)
    assert not player.is_free((2, 0))
    assert player.is_free((0, -2))


def test_a_step_against_a_thing_or_a_wall_leaves_one_where_one_is():
    player = seeing("a red ball 1 step forward")
    taken(player.take("go forward"), ["a red ball 1 step forward"])
    assert player.place.cell == (0, 0)
    walled = seeing("a wall 1 step forward")
    taken(walled.take("go forward"))
    assert walled.place.cell == (0, 0)
    free = seeing("a wall 2 steps forward")
    taken(free.take("go forward"))
    assert free.place.cell == (0, -1)


def test_the_view_is_seven_by_seven_cells_ahead():
    cells = set(_view(Place((0, 0), 0)))
    assert len(cells) == 49
    assert (min(x for x, _ in cells), max(x for x, _ in cells)) == (-3, 3)
    assert (min(y for _, y in cells), max(y for _, y in cells)) == (-6, 0)


@pytest.mark.parametrize(
    ("lines", "actions"),
    [
        (["a red ball 1 step forward"], []),
        (["a red ball 3 steps forward"], ["go forward", "go forward"]),
        (["a red ball 1 step right"], ["turn right"]),
        (["a red ball 1 step left"], ["turn left"]),
        (["a red ball 2 steps forward", "a blue box 1 step forward"], ["turn left"]),
    ],
)
def test_the_shortest_way_to_stand_before_a_thing(lines, actions):
    player = seeing(*lines)
    found = taken(player.face(Thing("red", "ball")), ["\n".join(lines)] * 50)
    assert found[: len(actions)] == actions
    if "box" not in lines[-1]:
        assert found == actions


def test_what_has_not_been_seen_is_looked_for_where_something_is_unseen():
    player = seeing()
    actions = taken(player.find(Thing("red", "ball")), ["", "a red ball 1 step forward"])
    assert len(actions) == 2
    assert Thing("red", "ball") in player.things.values()


def test_an_errand_of_fetching_ends_with_a_hand_and_then_only_looks_around():
    steps = play("pick up the red ball", Moment("a red ball 2 steps forward"))
    actions = [next(steps)]
    actions += [
        steps.send(Moment(text)) for text in ("a red ball 1 step forward", "You carry a red ball", "")
    ]
    assert actions == ["go forward", "pick up", "turn left", "turn left"]


def test_a_thing_is_put_down_beside_the_other_and_never_on_something():
    lines = "a red ball 1 step forward\na blue key 2 steps right\na green box 3 steps right"
    steps = play("put the red ball next to the blue key", Moment(lines))
    actions = [next(steps)]
    for _ in range(12):
        actions.append(steps.send(Moment("")))
        if actions[-1] == "drop":
            break
    assert actions[0] == "pick up"
    assert actions[-1] == "drop"


@pytest.mark.parametrize("errand", ["goto", "pickup", "open", "putnext", "pick_up_seq_go_to"])
def test_levels_ask_for_nothing_that_balrog_keeps_back(errand):
    level = Level(errand)
    for seed in range(12):
        level.reset(seed=seed)
        if errand != "open":
            for forbidden in ("yellow box", "red key", "green ball"):
                assert forbidden not in level.mission, seed
        assert level.mission
        assert describe(view_of(level).cells)


def test_a_door_to_be_opened_is_locked_and_its_key_is_on_this_side():
    level = Level("open")
    for seed in range(8):
        level.reset(seed=seed)
        here = level.room_from_pos(*level.agent_pos)
        kinds = {thing.type for thing in here.objs}
        assert "key" in kinds, seed
        (locked,) = {door for room in level.room_grid[0] for door in room.doors if door}
        assert locked.is_locked


# --- Crafter -------------------------------------------------------------------------------------


def scene(sees=(), faces="grass", asleep=False, **has):
    """A moment of Crafter."""
    near = "\n".join(f"- {name} {far} steps to your {way}" for name, far, way in sees)
    counts = {"food": 9, "drink": 9, "energy": 9} | has
    short = "\n".join(f"- {name}: {count}" for name, count in counts.items())
    sleeping = "You are sleeping.\n\n" if asleep else ""
    return Scene(Moment(f"{sleeping}You see:\n{near}\n\nYou face {faces} at your front.", short))


def settled():
    """A player who has eaten, drunk, slept and planted."""
    player = Crafting()
    player._done |= {"eat_cow", "drink", "sleep", "plant", "stone"}
    return player


def test_what_a_moment_does_not_tell_is_nothing():
    empty = Scene(NOTHING)
    assert (empty.faces, empty.asleep, empty.sees, empty.count("wood")) == ("nothing", False, {}, 0)
    assert not empty.near("tree")
    assert scene([("tree", 2, "north-west")]).sees["tree"] == Sight(2, ("north", "west"))
    assert scene([("tree", 2, "north")]).near("tree", 2)


@pytest.mark.parametrize(
    ("has", "sees", "action"),
    [
        ({"wood_pickaxe": 1, "wood": 9}, [("stone", 3, "east"), ("tree", 2, "north")], "Move East"),
        ({"wood": 1}, [("stone", 3, "east"), ("tree", 2, "north")], "Move North"),
        ({"wood_pickaxe": 1, "wood": 9, "stone": 9}, [("coal", 3, "west"), ("tree", 2, "north")],
         "Move West"),
        ({"wood_pickaxe": 1, "stone_pickaxe": 1, "wood": 9, "stone": 9, "coal": 1},
         [("iron", 3, "south"), ("coal", 1, "north")], "Move South"),
        ({"iron_pickaxe": 1, "stone_pickaxe": 1, "wood_pickaxe": 1},
         [("diamond", 3, "east"), ("tree", 1, "north")], "Move East"),
    ],
)  # fmt: skip
def test_materials_are_gathered_in_the_order_of_crafts(has, sees, action):
    assert settled().act(scene(sees, faces="water", **has)) == action


@pytest.mark.parametrize(
    ("has", "action"),
    [
        ({"wood": 1, "wood_pickaxe": 1, "wood_sword": 1, "stone": 1, "stone_pickaxe": 1}, "Make Stone Sword"),
        ({"wood": 1, "wood_pickaxe": 1, "wood_sword": 1, "stone": 9, "stone_pickaxe": 1, "stone_sword": 1},
         "Place Furnace"),
    ],
)  # fmt: skip
def test_at_a_table_the_next_tool_is_made(has, action):
    assert settled().act(scene([("table", 1, "north")], faces="sand", **has)) == action


def test_iron_needs_a_furnace_and_coal_too():
    tools = {"wood_pickaxe": 1, "wood_sword": 1, "stone_pickaxe": 1, "stone_sword": 1}
    has = {"wood": 1, "stone": 9, "iron": 1, **tools}
    both = [("table", 1, "north"), ("furnace", 1, "south")]
    assert settled().act(scene(both, faces="sand", coal=1, **has)) == "Make Iron Pickaxe"
    assert settled().act(scene(both, faces="sand", **has)) != "Make Iron Pickaxe"


def test_stone_in_the_way_is_dug_with_a_pickaxe_and_walked_around_without():
    for has, expected in (({"wood_pickaxe": 1}, "Do"), ({}, "Move South")):
        player = settled()
        player._moved = "east"
        assert player.act(scene([("tree", 5, "east")], faces="stone", **has)) == expected


def test_what_blocks_the_only_way_is_walked_around():
    player = settled()
    player._moved = "east"
    moves = [player.act(scene([("tree", 5, "east")], faces="water")) for _ in range(3)]
    assert "Move East" not in moves[:1]
    assert set(moves) & {"Move North", "Move South"}


def test_exploring_turns_round_at_the_end_of_the_world_and_after_a_while():
    player = settled()
    assert player.act(scene(faces="grass")) == "Move West", "nothing is seen: the way back"
    player = settled()
    headings = {player.act(scene([("sand", 1, "north")], faces="grass")) for _ in range(60)}
    assert len(headings) > 1


def test_what_was_eaten_drunk_and_slept_is_not_sought_again():
    player = Crafting()
    player.act(scene(food=3, drink=3, energy=3, asleep=True))
    player.act(scene(food=9, drink=9, energy=9))
    assert {"eat_cow", "drink", "sleep"} <= player._done


def test_views_of_a_world_are_whole_but_at_its_edges():
    view = np.full((9, 7), "grass", object)
    view[4, 3] = "player"
    view[4, 2] = "table"
    assert surroundings(view, (0, -1), False, False).endswith("You face table at your front.")
    assert surroundings(view, (-1, 0), False, False).endswith("You face grass at your front.")
