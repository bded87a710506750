"""Append-only histories: within a segment every prompt begins with the one before and its answer."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.agents import resolve
from balrog_rag.agents.base import BaseAgent
from balrog_rag.cli.episode import main as episode
from balrog_rag.cli.main import main
from balrog_rag.contracts.data import AnswerFormat, Decision, Message, Purpose, Reply, Request, Usage
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.events import Answered, Asked, Event
from balrog_rag.episode import journal
from balrog_rag.episode.segments import SegmentCounter
from balrog_rag.results.tally import read_episode
from balrog_rag.run.replay import replay, verify
from balrog_rag.util.tokens import count_message
from tests.agents.support import NEWT, STAIRS, VIEW, Guide, Script, agent_config, made, moment, perform


class Seen:
    """The prompts and answers of an episode, as an export of its journal shows them."""

    def __init__(self, path: Path) -> None:
        self.asked: list[Asked] = []
        self.replies: list[Reply] = []
        asyncio.run(replay(path, self))

    def see(self, event: Event) -> None:
        if isinstance(event, Asked) and event.request.purpose in ("act", "query"):
            self.asked.append(event)
        elif isinstance(event, Answered) and event.purpose in ("act", "query"):
            self.replies.append(event.reply)


def turns(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in messages]


def segments(seen: Seen) -> int:
    """The number of segments, by the definition and without the counter."""
    count = 1
    for last, reply, now in zip(seen.asked, seen.replies, seen.asked[1:], strict=False):
        before = turns(last.request.messages)
        wanted = [*before, ("assistant", reply.text)]
        count += turns(now.request.messages)[: len(wanted)] != wanted
    return count


NLE = "env.tasks=[nle/NetHackChallenge-v0]"
BABYAI = "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]"
RETRIEVES = ("agent.retrieval.enabled=true", "agent.retrieval.context=whole", "knowledge.index=bm25")
CUT = "agent.retrieval.context=cut"
PLAYED: list[tuple[list[str], int]] = [
    (["agent=naive_append", BABYAI], 1),
    (["agent=cot_append", NLE], 1),
    (["agent=naive_append", NLE, "env.actions=skills", "agent.lenient=true"], 1),
    (["agent=robust_cot", "agent.history.window=append", NLE, "env.programs=[dig_down]"], 1),
    (["agent=naive_append", NLE, *RETRIEVES], 1),
    (["agent=cot_append", NLE, *RETRIEVES, "agent.retrieval.reuse=seen", "agent.retrieval.place=before"], 1),
    (
        [
            *("agent=robust_cot", "agent.history.window=append", NLE, "agent.notebook.enabled=true"),
            *("agent.loops.enabled=true", "agent.batch.size=3"),
        ],
        1,
    ),
    (["agent=naive_append", NLE, "agent.max_prompt_tokens=6000"], 2),
    (["agent=naive_append", NLE, "model.context=9000", "model.max_tokens=200", *RETRIEVES, CUT], 2),
]


@pytest.mark.parametrize(
    ("words", "least"),
    PLAYED,
    ids=[f"{words[0].removeprefix('agent=')}-{place}" for place, (words, _) in enumerate(PLAYED)],
)
def test_each_prompt_begins_with_the_one_before_and_its_answer(
    words: list[str], least: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["model=scripted", "env.episodes=1", "limits.steps=30", "runner.log=none", "runner.workers=1"]
    assert main([*words, *common, f"run.folder={tmp_path}", "run.name=run"]) == 0
    (path,) = (tmp_path / "run").rglob("*.journal.jsonl")
    seen, counter = Seen(path), SegmentCounter()
    asyncio.run(replay(path, counter))
    found = segments(seen)
    assert (found == 1) if least == 1 else found >= least
    assert found <= 10
    assert len(seen.asked) >= 10
    assert counter.count == asyncio.run(verify(path)).segments == found
    noted = [step.notes["segment"] for step in journal.read(path).steps if "segment" in step.notes]
    assert noted == sorted(noted)
    assert noted[-1] == found
    played = read_episode(path)
    assert played is not None
    assert played.segments == found
    assert all(each.request.messages[0].role == "system" for each in seen.asked)
    capsys.readouterr()
    assert episode(["verify", str(tmp_path / "run")]) == 0
    assert f" in {found} segment" in capsys.readouterr().out


def test_sixty_steps_are_one_segment(tmp_path: Path) -> None:
    words = ["agent=naive_append", "model=scripted", NLE, "env.episodes=1", "limits.steps=60"]
    assert main([*words, "runner.log=none", f"run.folder={tmp_path}", "run.name=run"]) == 0
    (path,) = (tmp_path / "run").rglob("*.journal.jsonl")
    seen = Seen(path)
    assert (len(seen.asked), segments(seen)) == (60, 1)
    # The instruction is sent once, and each observation is one message.
    assert [each.role for each in seen.asked[-1].request.messages] == [
        "system",
        *["user", "assistant"] * 59,
        "user",
    ]


def test_other_agents_begin_a_segment_at_every_step(tmp_path: Path) -> None:
    words = ["agent=naive", "model=scripted", NLE, "env.episodes=1", "limits.steps=12"]
    assert main([*words, "runner.log=none", f"run.folder={tmp_path}", "run.name=run"]) == 0
    (path,) = (tmp_path / "run").rglob("*.journal.jsonl")
    assert segments(Seen(path)) == 12
    assert not asyncio.run(verify(path)).appends


def act(window: str, steps: int, *overrides: str, act: Any = "north", guide: Guide | None = None) -> Script:
    script = Script(act, "Query: newts", "A summary.")
    agent = made(agent_config("naive", f"agent.history.window={window}", *overrides), VIEW, script, guide)
    perform(agent, [moment(turn) for turn in range(1, steps + 1)])
    return script


def test_an_observation_has_its_short_part_and_stays() -> None:
    first, second = act("append", 2).requests
    assert second.messages[:2] == first.messages
    assert "a: a pick-axe" in first.messages[1].text
    assert first.messages[0].text.endswith("until the episode is over.")
    assert "Answer with exactly one" not in second.messages[1].text + second.messages[3].text


def test_compaction_begins_with_a_question_and_keeps_half() -> None:
    limit = 2500
    script = act("append", 60, f"agent.max_prompt_tokens={limit}")
    sizes = [sum(map(count_message, each.messages)) for each in script.requests]
    assert max(sizes) <= limit
    falls = [(before, after) for before, after in pairwise(sizes) if after < before]
    assert falls
    for before, after in falls:
        assert limit - 200 < before
        assert 0.3 * limit < after <= 0.5 * limit
    assert all(each.messages[1].role == "user" for each in script.requests)


def test_a_prompt_that_the_provider_shortened_begins_a_segment() -> None:
    class Shortening(Script):
        async def complete(
            self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
        ) -> Reply:
            await super().complete(messages, purpose, answer)
            return Reply("north", trimmed=4 if len(self.requests) == 5 else 0)

    script = Shortening()
    decisions = perform(
        made(agent_config("naive_append"), VIEW, script), [moment(turn) for turn in range(1, 8)]
    )
    assert [each.notes["segment"] for each in decisions] == [1, 1, 1, 1, 1, 2, 2]
    fifth, sixth = script.requests[4].messages, script.requests[5].messages
    assert turns(sixth)[:-2] == turns((fifth[0], *fifth[5:]))


def test_the_limit_is_in_the_providers_tokens() -> None:
    """A tokenizer that counts more than the estimate makes segments shorter."""

    class Counting(Script):
        async def complete(
            self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
        ) -> Reply:
            await super().complete(messages, purpose, answer)
            return Reply("north", usage=Usage(int(1.4 * sum(map(count_message, messages))), 1))

    script = Counting()
    config = agent_config("naive_append", "agent.max_prompt_tokens=2500")
    perform(made(config, VIEW, script), [moment(turn) for turn in range(1, 60)])
    assert max(1.4 * sum(map(count_message, each.messages)) for each in script.requests) <= 2500


def test_passages_are_appended_once() -> None:
    words = ["agent.retrieval.enabled=true", "agent.retrieval.context=whole", "agent.retrieval.reuse=seen"]
    script = act("append", 3, *words, "agent.retrieval.keep=2", guide=Guide(NEWT, STAIRS))
    last = script.requests[-1].messages
    assert sum(NEWT.text in each.text for each in last) == 1
    assert 'found for "newts" is the same as above' in last[-1].text
    assert [each.purpose for each in script.requests] == ["query", "act"] * 3
    # A query is part of the dialogue: what it asked about is not repeated for the action.
    query, acts = script.requests[0].messages, script.requests[1].messages
    assert turns(acts)[: len(query) + 1] == [*turns(query), ("assistant", "Query: newts")]
    assert "T:1" not in acts[-1].text
    assert "Answer with exactly one" in acts[-1].text


def test_a_requested_look_up_continues_the_dialogue() -> None:
    def answer(request: Request) -> str:
        return "north" if NEWT.text in request.messages[-1].text else "<|LOOKUP|>newts<|END|>"

    words = ["agent.retrieval.enabled=true", "agent.retrieval.context=whole", "agent.retrieval.when=asked"]
    script = act("append", 1, *words, act=answer)
    asked, again = script.requests
    assert turns(again.messages)[:-1] == [*turns(asked.messages), ("assistant", "<|LOOKUP|>newts<|END|>")]
    assert "T:1" not in again.messages[-1].text


def test_reasoning_is_sent_back_where_it_came_from() -> None:
    class Thinking(Script):
        async def complete(
            self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
        ) -> Reply:
            await super().complete(messages, purpose, answer)
            return Reply("north", "Hm.", reasoning_in="reasoning_content")

    script = Thinking()
    perform(made(agent_config("naive_append"), VIEW, script), [moment(1), moment(2)])
    said = script.requests[1].messages[2]
    assert (said.text, said.reasoning, said.reasoning_in) == ("north", "Hm.", "reasoning_content")
    assert said.digest != Message("assistant", "north").digest


def test_turns_of_other_players_are_part_of_the_dialogue() -> None:
    script = Script("north")
    agent = made(agent_config("naive_append"), VIEW, script)
    agent.recall(moment(1), Decision("east"))
    agent.recall(moment(2), Decision("east", "I go east."))
    perform(agent, [moment(3)])
    assert [each.text for each in script.requests[0].messages if each.role == "assistant"] == [
        "east",
        "I go east.",
    ]


def test_an_agent_that_asks_in_its_own_way_keeps_its_answer() -> None:
    class Voting(BaseAgent):
        async def answer(self, prompt: Any) -> Reply:
            return await self.llm.complete(prompt.messages())

    script = Script("north")
    agent = Voting(agent_config("naive_append"), VIEW, script, Guide())
    perform(agent, [moment(1), moment(2)])
    assert turns(script.requests[1].messages)[:3] == [
        *turns(script.requests[0].messages),
        ("assistant", "north"),
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agent=netplay", "agent.history.window=append"], "agent 'netplay' has no append-only history"),
        (
            ["agent=naive_append", "agent.retrieval.enabled=true", "agent.retrieval.place=system"],
            "agent.retrieval.place=system: changes the instruction",
        ),
        (["agent=cot_append", "agent.observation.past_maps=none"], "changes past observations"),
    ],
)
def test_settings_that_would_change_messages_are_refused(words: list[str], said: str) -> None:
    option = words[0].removeprefix("agent=")
    with pytest.raises(ConfigError, match=said):
        resolve(agent_config(option, *words[1:]))
