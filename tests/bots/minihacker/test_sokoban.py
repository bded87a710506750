"""The search for solutions of Boxoban levels, on levels of our own."""

import pytest

from balrog_rag.bots.nethack.minihacker.sokoban import Level, solve
from tests.bots.minihacker.made import level, read


def walked(ground: Level, player: int, boxes: frozenset[int], moves: list[int]) -> frozenset[int]:
    """Where the boxes are after these moves; every move must be possible."""
    for move in moves:
        player += move
        assert player in ground.floor
        if player in boxes:
            assert player + move in ground.floor - boxes
            boxes = boxes - {player} | {player + move}
    return boxes


@pytest.mark.parametrize("seed", range(6))
def test_levels_with_four_boxes_are_solved(seed: int) -> None:
    ground, player, boxes = read(level(seed))
    moves = solve(ground, player, boxes)
    assert moves is not None
    assert walked(ground, player, boxes, moves) == ground.goals


def test_a_solution_is_not_needlessly_long() -> None:
    ground, player, boxes = read("##########\n#@ $    .#\n##########\n")
    assert solve(ground, player, boxes) == [1] * 6


def test_a_box_in_a_corner_has_no_solution() -> None:
    ground, player, boxes = read("######\n#$   #\n#@  .#\n######\n")
    assert solve(ground, player, boxes) is None


def test_the_search_gives_up_after_its_number_of_states() -> None:
    ground, player, boxes = read(level(0))
    assert solve(ground, player, boxes, most=3) is None
