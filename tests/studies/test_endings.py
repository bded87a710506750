"""Deaths that knowledge prevents: finished games, replayed with the real wrapper and search."""

import gzip
import json
from pathlib import Path

import pytest

from balrog_rag.cli.knowledge import main
from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.signals import Concern
from balrog_rag.envs.nethack.causes import PREVENTABLE, cause_of_death
from balrog_rag.envs.nethack.concerns import NOT_LOW, OLD_CORPSE, OVEREATING, PRAY, PRAYED, STAIRS_OUT
from balrog_rag.envs.nethack.decisions import decision
from balrog_rag.envs.nethack.logged import read_logged
from balrog_rag.envs.nethack.questions import news, states
from balrog_rag.envs.nethack.screen_signals import NetHackSignals
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.passages import Cut
from balrog_rag.knowledge.saving import check_saving, read_saving
from balrog_rag.util.paths import data

SCREEN = """message:
{message}

language observation:
{seen}

cursor:
Yourself a priest
(x=1, y=1)

map:
 |.@.|
Agent the Aspirant             St:18 Dx:10 Co:13 In:12 Wi:14 Ch:7 Chaotic S:0
Dlvl:{level} $:3 HP:{hp}(16) Pw:2(2) AC:6 Xp:1/7 T:{turn} {signs}
"""


def screen(message: str = "", seen: str = "vertical wall near east", **shown: object) -> str:
    values = {"level": 2, "hp": 16, "turn": 90, "signs": "", **shown}
    return SCREEN.format(message=message, seen=seen, **values)


def test_a_logged_text_is_read_back() -> None:
    seen = read_logged(screen("You hear bells.", "newt near east", hp=9, signs="Weak Burdened FoodPois Conf"))
    assert NetHackSignals().things(seen) == ["newt"]
    assert seen.text("message").strip() == "You hear bells."
    wanted = {"hp": 9, "max_hp": 16, "depth": 2, "turn": 90, "hunger": 3, "encumbrance": 1, "condition": 264}
    assert wanted.items() <= seen.numbers.items()
    assert read_logged("message:\nYou die\n\nmap:\n\n").numbers == {}


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("killed by a jackal", "other"),
        ("killed by a fox, while praying", "prayer"),
        ("killed by the wrath of Manannan Mac Lir", "prayer"),
        ("killed by a couatl of Amaterasu Omikami, while praying", "prayer"),
        ("killed by an incubus of Susanowo, while fainted from lack of food", "hunger"),
        ("starved to death", "hunger"),
        ("poisoned by a rotted fox corpse", "corpse"),
        ("choked on a lembas wafer", "overeating"),
        ("killed by a gas spore's explosion", "gas spore"),
        ("killed by a little dog, while frozen by a monster's gaze", "floating eye"),
        ("petrified by a cockatrice corpse", "petrification"),
        ("killed by the ghost of Agent", "other"),
        ("killed by Asidonhopo, the shopkeeper", "other"),
    ],
)
def test_deaths_have_classes(words: str, cause: str) -> None:
    assert cause_of_death(words) == cause
    assert (cause in PREVENTABLE) == (cause != "other")


def test_states_and_news_are_what_should_be_known() -> None:
    hungry = read_logged(screen(signs="Weak", hp=5)).numbers
    assert [state.split()[0] for state in states(hungry, [])] == ["Weak", "low", "how"]
    above = read_logged(screen(level=1, turn=20)).numbers
    assert "never climb" in states(above, ["stairs up"])[0]
    assert states(above, []) == []
    assert news("It's a wall.") == news("You swap places with your kitten.") == ""
    assert news("You feel that Kos is displeased.")


def test_the_fatal_answer_is_found_by_the_class_of_end() -> None:
    pray, eat = "Are you sure you want to pray? [yn] (n)", "There is a newt corpse here; eat it? [ynq] (n)"
    said = ["", eat, "You finish eating.", pray, "You begin praying.", "You feel that Kos is displeased.", ""]
    moments = [read_logged(screen(text)) for text in said]
    assert decision("prayer", moments, "You die...") == 3
    assert decision("corpse", moments, "") == 1
    assert decision("corpse", moments[2:], "") is None  # eaten before the record begins
    assert decision("hunger", moments, "You faint from lack of food.") == 6
    assert decision("left the dungeon", moments, "") == 6  # without a question it is the last answer
    assert decision("gas spore", [*moments, read_logged(screen("You made the top ten list!"))], "") == 6
    sick = [
        *moments[:2],
        *(read_logged(screen(signs="FoodPois")) for _ in range(2)),
        read_logged(screen(eat)),
    ]
    assert decision("corpse", sick, "") == 1
    assert decision("overeating", [], "") is None


def asked_at(message: str = "", seen: str = "", prayed: int | None = None, **shown: object) -> list[Concern]:
    moment = read_logged(screen(message, seen or "vertical wall near east", **shown))
    return NetHackSignals().concerns(moment, {} if prayed is None else {"prayer": prayed})


def test_concerns_begin_with_the_open_question_and_end_with_the_farthest_thing() -> None:
    climb = asked_at("Beware, there will be no return!  Still climb? [yn] (n)", level=1)
    assert climb[0] == Concern(STAIRS_OUT, asked=True)
    seen = "jackal far north\ngas spore adjacent east\nnewts near west and south\ntame kitten near east"
    seen = f"{seen}\nnewt statue near east"
    queries = [each.query.split(":")[0] for each in asked_at("In what direction?", seen)]
    assert queries == ["gas spore", "newt", "jackal"]
    assert [each.lasting for each in asked_at("", seen)] == [True, True, False]
    assert asked_at("Core dumped.") == asked_at("You swap places with Slasher.") == []
    assert asked_at("", "floating eye near west", signs="Hallu")[0].query.startswith("Hallucinating")
    assert len(asked_at("", "floating eye near west", signs="Hallu")) == 1


def test_what_was_done_and_lasts_changes_the_questions() -> None:
    pray = "Are you sure you want to pray? [yn] (n)"
    assert [each.query for each in asked_at(pray, hp=2)][:1] == [PRAY]
    assert asked_at(pray, hp=2, turn=500, prayed=440)[0].query == PRAYED
    assert NOT_LOW in [each.query for each in asked_at(pray, hp=9)]
    assert NOT_LOW not in [each.query for each in asked_at(pray, hp=3)]
    assert asked_at("What do you want to eat? [f or ?*]", signs="Satiated")[0].query == OVEREATING
    assert asked_at("There is a kobold corpse here; eat it? [ynq] (n)")[0].query == OLD_CORPSE
    hungry = asked_at("", signs="Weak", turn=500, prayed=440)
    assert next(each.query for each in hungry if each.lasting) == PRAYED
    assert asked_at(pray, hp=2, turn=1500, prayed=440)[0].query == PRAY
    no_numbers = read_logged(f"message:\n{pray}\n\ncursor:\nYourself a priest\n")
    assert NetHackSignals().concerns(no_numbers, {})[0] == Concern(PRAY, asked=True)


def test_every_saving_passage_is_in_the_corpus_and_every_class_is_one() -> None:
    saving = read_saving(data("wiki_index") / "saving.yaml")
    check_saving(saving, load("embedded", Cut(240)).passages, "embedded")
    assert set(saving) == PREVENTABLE
    with pytest.raises(Exception, match="is not in corpus mine"):
        check_saving(saving, [Passage("1", "", "")], "mine")


def test_the_command_tells_what_each_policy_would_have_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "choking.md").write_text("# Choking on food\nSatiated: do not eat on, you choke.\n")
    (notes / "newts.md").write_text("# Newts\nA newt is harmless.\n")
    (tmp_path / "saving.yaml").write_text("overeating: [notes/choking]\n")
    moments = [screen(seen="newt near east"), *[screen()] * 6, *[screen(signs="Satiated")] * 6, "message:\nx"]
    last = [{"step": n, "action": "eat", "observation": text} for n, text in enumerate(moments)]
    game = {"file": "a", "end": "choked on a food ration", "cause": "overeating", "last": last}
    late = {**game, "file": "b", "last": last[:-5] + last[-1:]}
    other = {**game, "file": "c", "cause": "other"}
    path = tmp_path / "games.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, (game, late, other))).encode()))
    words = ["endings", str(path), "--saving", str(tmp_path / "saving.yaml"), "--query", "noticed", "--json"]
    settings = [f"knowledge.corpus={notes}", "knowledge.index=bm25", "agent.retrieval.k=1"]
    assert main([*words, "--when", "novelty", "--when", "asked", "--when", "every", *settings]) == 0
    novelty, asked, every = map(json.loads, capsys.readouterr().out.splitlines())
    assert (novelty["preventable"], novelty["shown_in_time"], novelty["games"]) == (2, 1, 3)
    assert [case["before_end"] for case in novelty["list"]] == [6, 2, None]
    assert novelty["list"][0]["saving"] == "notes/choking"
    assert novelty["looked_up_share"] == pytest.approx(6 / 35)
    assert (novelty["at_decision"], novelty["at_answer"]) == (2, 2)
    assert novelty["tokens_a_step"] > 0
    assert novelty["false_alarm_share"] == pytest.approx(6 / 35)  # shown in the third game as well
    assert (asked["shown_in_time"], asked["at_decision"], asked["looked_up_share"]) == (0, 0, 0)
    assert every["looked_up_share"] >= novelty["looked_up_share"]


NO_MAP = (
    "message:\n{message}\n\nlanguage observation:\nnewt near east\n\ncursor:\nYourself a priest\n(x=1, y=1)\n"
)


def test_every_policy_walks_through_moments_without_a_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "newts.md").write_text("# Newts\nA newt is harmless.\n")
    (tmp_path / "saving.yaml").write_text("{}\n")
    texts = [NO_MAP.format(message=said) for said in ("", "You begin praying.")]
    moments = [*texts, screen(hp=3, signs="Weak"), *texts, "", screen().replace(" T:90", ""), "x"]
    last = [{"step": n, "action": "wait", "observation": text} for n, text in enumerate(moments)]
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps({"file": "a", "end": "starved", "cause": "hunger", "last": last}))
    settings = [f"knowledge.corpus={notes}", "knowledge.index=bm25", "agent.retrieval.k=1"]
    assert main(["endings", str(path), "--saving", str(tmp_path / "saving.yaml"), "--json", *settings]) == 0
    made = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(made) == 20
    assert {policy["steps"] for policy in made} == {7}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["games.jsonl"], "cannot read the endings"),
        (["README.md"], "not a file of endings"),
        (["README.md", "--when", "sometimes"], "--when sometimes: not one of"),
        (["README.md", "agent.name=cot"], "not understood"),
    ],
)
def test_mistakes_are_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["endings", *words]) != 0
    message = capsys.readouterr().err
    assert told in message
    assert message.count("\n") == 1
