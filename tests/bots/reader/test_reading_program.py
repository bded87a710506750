"""The delver turn by turn with some of its rules, in real games."""

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

import msgspec
import pytest

from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.reader import WITHHELD
from balrog_rag.bots.nethack.reader.shown_rules import RULES, ShownRules
from balrog_rag.cli.verbs import main
from balrog_rag.contracts.data import ProgramPlayer, Transition
from balrog_rag.episode.journal import Lookup, Step, read
from balrog_rag.workers.host import HostedGame
from tests.bots.skills.test_switches import ARCHEOLOGIST
from tests.envs.support import nethack

TURNS = 120


def game() -> HostedGame:
    return HostedGame(msgspec.structs.replace(nethack(5, ARCHEOLOGIST), programs=("follow_rules",)))


def read_game(rules: Sequence[str]) -> list[Transition]:
    """Play one turn with each of these sets of rules."""
    hosted, played = game(), list[Transition]()
    try:
        for each in rules:
            played.append(hosted.step(f"follow_rules {each}"))
            if hosted.ended:
                break
    finally:
        hosted.close()
    return played


def test_with_every_rule_shown_it_presses_the_delvers_keys() -> None:
    played = read_game(["all"] * TURNS)
    presses = sum(each.keys for each in played)
    hosted = game()
    try:
        delver = ProgramPlayer("delver", {}, 0)
        last, keys = hosted.start, 0
        while keys < presses:
            last = hosted.run(delver, presses - keys)
            keys += last.keys
    finally:
        hosted.close()
    assert keys == presses
    assert last.observation.numbers == played[-1].observation.numbers
    assert last.observation.text("map") == played[-1].observation.text("map")


def test_each_call_is_at_most_one_move() -> None:
    seen = [each.observation.numbers for each in read_game(["all"] * 40)]
    moments = [(each["turn"], each["x"], each["y"]) for each in seen]
    assert all(before != after for before, after in pairwise(moments))
    assert moments == sorted(moments, key=itemgetter(0))


def test_a_rule_counts_only_while_it_is_shown() -> None:
    """An Archeologist writes Elbereth in its first pits only if that rule is shown then."""

    def writes(rules: str) -> bool:
        return any("want to write" in each.observation.text("message") for each in read_game([rules] * TURNS))

    assert writes("elbereth_pit")
    assert not writes("none")
    assert not writes("prayer_low meals")


def test_a_name_that_is_not_withheld_fails_the_call() -> None:
    (played,) = read_game(["elbereth_pit collecting"])
    assert played.stopped == "failed: 'collecting' is not a withheld rule"


def test_switches_ask_what_is_shown() -> None:
    on = ShownRules()
    assert on.elbereth  # the plan of the game is not withheld
    assert not on.prayer_low
    on.show(["prayer_low"])
    assert on.prayer_low
    assert not on.meals
    assert {each.name for each in WITHHELD} == RULES
    assert len(RULES) >= 30
    assert set(Switches.__dataclass_fields__) > RULES


@pytest.mark.slow
def test_a_run_looks_up_follows_and_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every step the rules are those that the passages found up to then state; searches are replayed."""
    monkeypatch.chdir(tmp_path)
    settings = (
        "agent=reader",
        "env=nethack",
        "env.episodes=1",
        "run.folder=.",
        "run.name=r",
        "limits.steps=150",
    )
    words = ("agent.retrieval.when=every", "agent.retrieval.keep_tokens=0", "knowledge.index=bm25")
    assert main(["run", *settings, *words, "runner.workers=1"]) == 0
    (journal,) = Path("r").rglob("*.journal.jsonl")
    recording = read(journal)
    assert recording.header is not None
    options = recording.header.spec.player.agent["options"]
    found: set[str] = set()
    followed = 0
    for entry in recording.entries:
        if isinstance(entry, Lookup):
            found |= {each.id for each in entry.passages}
        if isinstance(entry, Step):
            names = set(entry.action.split()[1:]) - {"none"}
            followed += bool(names)
            stated = {rule for rule, ids in options["passages"].items() if found.intersection(ids)}
            assert names <= stated
            found.clear()
    assert followed > 0
    assert main(["verify", "r"]) == 0
