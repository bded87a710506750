import random

import numpy as np
import pytest

from balrog_rag.envs.babyai.agent_view import view_of
from balrog_rag.envs.babyai.game import ERRANDS
from balrog_rag.envs.babyai.levels import Level

PIXELS = 16


@pytest.mark.parametrize("errand", ERRANDS)
def test_the_view_is_that_of_minigrid(errand):
    """Turning, at the edges, through doors, with something in hand: cells, what is seen, and the picture."""
    looks, pictures = set(), set()
    for seed in range(2):
        level, dice = Level(errand), random.Random(seed)
        level.reset(seed=seed)
        for _ in range(30):
            grid, seen = level.gen_obs_grid()
            view = view_of(level)
            assert (seen == np.array(view.seen)).all()
            cells = [cell for column in view.cells for cell in column]
            theirs = [grid.get(x, y) for x in range(grid.width) for y in range(grid.height)]
            assert [each and each.encode() for each in cells] == [each and each.encode() for each in theirs]
            assert (view.picture(PIXELS) == level.get_pov_render(PIXELS)).all()
            looks.add(view.looks)
            pictures.add(view.picture(PIXELS).tobytes())
            if level.step(dice.choice([0, 1, 2, 2, 2, 3, 4, 5]))[2]:
                break
    assert len(looks) == len(pictures) > 5
