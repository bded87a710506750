"""The pages about games other than NetHack: complete, short enough, and found by players' questions."""

import pytest

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import games, load
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.passages import Cut, wordpiece

LONGEST = 240

ASKED = {
    "crafter": {
        "how do I get a diamond": "crafter/crafts#collect-diamond",
        "safe place to sleep at night": "crafter/crafts#a-safe-place-to-sleep",
        "iron pickaxe requirements": "crafter/crafts#make-iron-pickaxe",
        "lava one step away": "crafter/rules#lava",
    },
    "babaisai": {
        "no active rule ends in win": "babaisai/tactics#no-rule-says-win",
        "wall is stop blocks my way, how to break it": "babaisai/tactics#how-to-break-wall-is-stop",
        "what does baba is you mean": "babaisai/rules#who-you-are-baba-is-you",
    },
    "textworld": {
        "what does the recipe in the cookbook need": "textworld/games#reading-the-recipe",
        "unlock a door with a key": "textworld/commands#unlocking",
        "dice the potato with a knife": "textworld/commands#cutting",
    },
}


@pytest.mark.parametrize("game", sorted(ASKED))
def test_every_section_is_one_passage(game: str) -> None:
    passages = load(game, Cut(LONGEST)).passages
    count = wordpiece()
    assert 30 <= len(passages) <= 60
    assert len({passage.id for passage in passages}) == len(passages)
    for passage in passages:
        assert count(passage.text) <= LONGEST
        assert passage.text.endswith("."), passage.id


@pytest.mark.parametrize("game", sorted(ASKED))
def test_a_question_finds_its_answer(game: str, settings) -> None:
    questions = list(ASKED[game])
    found = open_searcher(settings(corpus=game)).search(questions, 3)
    for question, passages in zip(questions, found, strict=True):
        assert ASKED[game][question] in [passage.id for passage in passages], question


def test_games_without_pages_are_unknown() -> None:
    assert games() == sorted([*ASKED, "games"])
    assert len(load("games", Cut(LONGEST)).passages) == sum(
        len(load(game, Cut(LONGEST)).passages) for game in ASKED
    )
    with pytest.raises(KnowledgeError, match="did you mean crafter"):
        load("craftr", Cut(LONGEST))
