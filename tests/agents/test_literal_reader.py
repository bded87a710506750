"""The literal reader follows a rule exactly while its prompt shows a passage that states it."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from balrog_rag.agents import build, needs, refusal
from balrog_rag.agents.literal_reader import LiteralReader, read_rules
from balrog_rag.cli.verbs import main
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import Agent
from balrog_rag.contracts.data import Action, GameSpec, Parameter, Passage, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import program_of
from balrog_rag.util.paths import data
from tests.agents.support import VIEW, Guide, Script, agent_config, moment, perform

OFFERED = VIEW.offering((Action("follow_rules", "play one turn", (Parameter("rules", "text"),)),))
PRAY = Passage("guide/pray", "Praying", "Pray when few hit points are left.", 0.9)
HOLD = Passage("guide/elbereth", "Elbereth", "Write Elbereth and rest on it.", 0.8)
STATED = "+agent.options.passages={prayer_low: [guide/pray], elbereth_rest: [guide/elbereth, guide/pray]}"


def config(*overrides: str) -> AgentConfig:
    return agent_config("reader", STATED, *overrides)


def reader(guide: Guide, *overrides: str) -> Agent:
    return build(config(*overrides), OFFERED, Script(), guide)


def actions(guide: Guide, moments: int, *overrides: str, hp: int = 10) -> list[str]:
    moments_ = [moment(turn, hp=hp, language="newt near east") for turn in range(1, moments + 1)]
    return [each.action for each in perform(reader(guide, *overrides), moments_)]


def test_a_rule_is_followed_while_a_passage_that_states_it_is_in_the_prompt() -> None:
    """By default only at the step of the look-up; with `keep`, that many steps longer."""
    none = "follow_rules none"
    once = actions(Guide(HOLD), 4, "agent.retrieval.keep_tokens=0")
    assert once == ["follow_rules elbereth_rest", none, none, none]
    kept = actions(Guide(HOLD), 4, "agent.retrieval.keep_tokens=0", "agent.retrieval.keep=2")
    assert kept == ["follow_rules elbereth_rest"] * 3 + [none]


def test_one_passage_may_state_several_rules_and_others_state_none() -> None:
    assert actions(Guide(PRAY), 1) == ["follow_rules elbereth_rest prayer_low"]
    assert actions(Guide(Passage("guide/newt", "Newt", "A newt is a lizard.", 0.5)), 1) == [
        "follow_rules none"
    ]


def test_without_retrieval_nothing_is_followed_and_the_oracle_follows_everything() -> None:
    guide = Guide(PRAY)
    assert actions(guide, 2, "agent.retrieval.enabled=false") == ["follow_rules none"] * 2
    oracle = "agent.options.oracle=true", "agent.retrieval.enabled=false"
    assert actions(guide, 2, *oracle) == ["follow_rules all"] * 2
    assert guide.queries == []


def test_what_is_not_in_the_prompt_does_not_count() -> None:
    """With a floor above its score, the passage is found but not shown."""
    assert actions(Guide(HOLD), 1, "agent.retrieval.floor=0.85") == ["follow_rules none"]
    assert actions(Guide(PRAY), 1, "agent.retrieval.floor=0.85") == ["follow_rules elbereth_rest prayer_low"]


def test_the_harness_own_remarks_are_not_looked_up() -> None:
    guide = Guide(HOLD)
    remark = moment(2, notice="Your last action, follow_rules none, stopped: done.\n\n")
    perform(reader(guide, "agent.retrieval.query=observation", "agent.retrieval.when=every"), [remark])
    assert len(guide.queries) == 1
    assert "follow_rules" not in guide.queries[0]


def test_the_notes_say_what_was_shown() -> None:
    first, second = perform(reader(Guide(HOLD), "agent.retrieval.keep_tokens=0"), [moment(1), moment(2)])
    assert first.notes["lookup"] == "fresh"
    assert first.notes["tokens"] > 5
    assert second.notes == {}


def test_a_turn_that_was_decided_elsewhere_is_remembered() -> None:
    """The reader that takes over a game does not look up again what was seen before."""
    guide = Guide(HOLD)
    agent = reader(guide, "agent.retrieval.keep_tokens=0", "agent.retrieval.order=listed")
    decision = perform(reader(Guide()), [moment(1)])[0]
    agent.recall(moment(1), decision)
    assert asyncio.run(agent.act(moment(2))).action == "follow_rules none"
    assert guide.queries == []


def test_it_asks_no_model_and_searches_only_with_retrieval() -> None:
    assert needs(config()) == (False, True)
    assert needs(config("agent.retrieval.enabled=false")) == (False, False)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("agent.retrieval.query=model", r"agent.retrieval.query=model: agent=reader asks no model"),
        ("agent.retrieval.when=asked", r"agent.retrieval.when=asked: agent=reader asks no model"),
        ("agent.retrieval.context=summary", r"agent=reader reads whole passages; use whole"),
        ("agent.retrieval.context=cut", r"agent=reader reads whole passages; use whole"),
    ],
)
def test_what_needs_a_model_is_refused(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        needs(config(override))


def test_other_games_are_refused() -> None:
    why = refusal("reader", GameSpec("babyai", "BabyAI-MixedTrainLocal-v0/goto", Seeds(1, 1)))
    assert why == "agent=reader: plays nle, nethackers and decisions only, not babyai"


def test_every_withheld_rule_has_passages_and_every_name_is_a_rule(tmp_path: Path) -> None:
    stated = read_rules(data("wiki_index") / "rules.yaml")
    known = [each.name for each in program_of("follow_rules").switches]
    assert sorted(stated) == sorted(known)
    file = tmp_path / "rules.yaml"
    for change, message in (
        ({"prayr_low": ["a"]}, "prayr_low: not a rule of this player"),
        ({"prayer_low": []}, "prayer_low: no passage"),
    ):
        file.write_bytes(msgspec.yaml.encode({**stated, **change}))
        with pytest.raises(ConfigError, match=message):
            read_rules(file)
    for text in ("[1, 2]", "prayer_low: {a: b}"):
        file.write_text(text)
        with pytest.raises(ConfigError, match=r"agent.options.rules: cannot read .*rules.yaml"):
            read_rules(file)


def test_the_content_of_the_file_is_read_once_when_a_run_starts() -> None:
    settled = LiteralReader.settle({})
    assert settled["passages"] == read_rules(data("wiki_index") / "rules.yaml")
    assert LiteralReader.settle({"rules": "gone.yaml", "passages": {"a": ["b"]}}) == {
        "rules": "gone.yaml",
        "passages": {"a": ["b"]},
    }


def test_a_passage_that_the_corpus_lacks_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stated = read_rules(data("wiki_index") / "rules.yaml")
    wrong = {**stated, "meals": ["embedded/topic/hungr"]}
    Path("mine.yaml").write_bytes(msgspec.yaml.encode(wrong))
    words = ["run", "agent=reader", "agent.options.rules=mine.yaml", "env=nethack"]
    assert main(words) == 1
    error = capsys.readouterr().err
    assert "meals: the passage 'embedded/topic/hungr' is not in corpus embedded" in error
    assert "did you mean embedded/topic/hunger" in error
    assert not Path("results").exists()
