"""Which nouns count as things: every noun of the observation language except terrain and pets."""

import pytest

from balrog_rag.agents.noticing import Noticer, danger
from balrog_rag.envs.nethack.glyphs import glyph_names
from balrog_rag.envs.nethack.screen_signals import PET, TERRAIN, NetHackSignals
from tests.agents.support import moment

SENSES = NetHackSignals()


def test_every_monster_and_object_is_a_thing() -> None:
    names = glyph_names()
    for noun, several in zip(names.nouns[1:], names.plurals[1:], strict=True):
        quiet = noun in TERRAIN or noun.startswith(PET)
        for words in (noun, several):
            assert SENSES.things(moment(language=f"{words} very far north")) == ([] if quiet else [words])


@pytest.mark.parametrize("noun", ["stone giant", "stone golems", "stone giant corpse"])
def test_a_thing_whose_name_begins_like_a_wall_is_news_and_danger(noun: str) -> None:
    quiet, alarming = moment(1, language="dark areas far north"), moment(2, language=f"{noun} near west")
    noticer = Noticer(SENSES, 50, 0.3)
    assert noticer.new(quiet) == []
    assert noticer.new(alarming) == [f"{noun} came into view"]
    assert danger(SENSES, quiet, alarming, 0.5) == f"{noun} came into view"


def test_all_terrain_is_something_that_the_game_names() -> None:
    names = glyph_names()
    assert {*names.nouns, *names.plurals} >= TERRAIN
