"""Passages that stay in the prompt while what they are about lasts."""

from balrog_rag.agents.kept_passages import KeptPassages
from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.signals import Concern
from tests.agents.support import moment
from tests.agents.test_retrieval import Trial

HUNGER, PRAYER = Concern("hunger", lasting=True), Concern("prayer", lasting=True)
ASKED = Concern("eat it?", asked=True)


def passage(name: str, size: int = 30) -> Passage:
    return Passage(name, "", "x" * size)


def names(kept: KeptPassages, *concerns: Concern) -> list[str]:
    return [each.id for each in kept.relevant(concerns)]


def test_a_passage_goes_with_its_concern_and_comes_back_with_it_without_a_search() -> None:
    kept = KeptPassages(1000)
    assert kept.open([HUNGER, Concern("newt")]) == ["hunger"]
    kept.learn("hunger", [passage("eat"), passage("more")])
    assert kept.open([HUNGER]) == []
    assert names(kept, HUNGER) == ["eat"]
    assert names(kept, PRAYER) == []
    assert names(kept, HUNGER) == ["eat"]


def test_the_most_urgent_passages_use_the_budget() -> None:
    kept = KeptPassages(25)
    kept.learn("eat it?", [passage("question")])
    kept.learn("hunger", [passage("long", 300)])
    kept.learn("prayer", [passage("short")])
    assert names(kept, ASKED, HUNGER, PRAYER) == ["question", "short"]


def test_the_games_question_is_searched_once_with_a_budget_and_each_time_without() -> None:
    for budget, open_ in ((1000, []), (0, ["eat it?"])):
        kept = KeptPassages(budget)
        kept.learn("eat it?", [passage("question")])
        assert kept.open([ASKED, Concern("another?", asked=True)]) == open_
        assert names(kept, ASKED) == (["question"] if budget else [])


def test_the_agent_shows_again_what_a_lasting_state_needs() -> None:
    trial = Trial(option="robust_rag")
    quiet = "vertical wall near east"
    low, fine = moment(2, language=quiet, hp=4), moment(3, language=quiet)
    assert trial.play(moment(1, language=quiet), low, low, fine, low) == ["", "fresh", "kept", "", "kept"]
    assert trial.guide.queries[0].startswith("low hit points")
    assert len(trial.guide.queries) == len(set(trial.guide.queries))
    assert set(trial.purposes()) == {"act"}
