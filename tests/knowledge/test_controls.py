"""The control conditions: as many passages of the same length that are irrelevant to the query."""

from balrog_rag.contracts.data import Passage
from balrog_rag.envs.nethack.questions import carried
from balrog_rag.knowledge.controls import controlled

PASSAGES = [Passage(str(n), f"title {n}", "x " * (20 + n)) for n in range(300)]


class Search:
    """Finds the same three for every query."""

    passages = PASSAGES
    dimensions = 0

    def search(self, queries: list[str], k: int, rerank: bool = True) -> list[list[Passage]]:
        return [PASSAGES[100 : 100 + k] for _ in queries]


def test_shuffled_passages_are_others_of_about_the_length() -> None:
    shuffled = controlled(Search(), "shuffled")  # type: ignore[arg-type]
    (first,), (again,) = shuffled.search(["newt"], 3), shuffled.search(["newt"], 3)
    (other,) = shuffled.search(["jackal"], 3)
    assert first == again != other
    assert not {each.id for each in first} & {"100", "101", "102"}
    assert len({each.id for each in first}) == 3
    for mine, real in zip(first, PASSAGES[100:103], strict=True):
        assert abs(len(mine.text) - len(real.text)) < 0.35 * len(real.text)


def test_empty_passages_say_nothing_at_the_same_length() -> None:
    (found,) = controlled(Search(), "empty").search(["newt"], 3)  # type: ignore[arg-type]
    assert [len(each.text) for each in found] == [len(each.text) for each in PASSAGES[100:103]]
    assert all(set(each.text) <= set("This passage is left blank on purpose. ") for each in found)


def test_none_is_the_search_itself() -> None:
    search = Search()
    assert controlled(search, "none") is search  # type: ignore[arg-type,comparison-overlap]


def test_what_is_carried_goes_by_its_name() -> None:
    inventory = (
        "a: a +1 club (weapon in hand)\nb: 12 uncursed flint stones\nc: an uncursed +0 cloak (being worn)"
    )
    assert carried(inventory) == ["club", "cloak", "flint stones"]
