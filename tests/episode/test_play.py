"""The play loop on real NetHack: resumed at any entry, verified, rejected if anything differs."""

import asyncio
import re
from pathlib import Path

import msgspec
import pytest

from balrog_rag.contracts.data import Decision
from balrog_rag.contracts.errors import JournalError, PluginError, ReplayError
from balrog_rag.contracts.events import Stepped
from balrog_rag.episode import journal
from balrog_rag.episode.effects import Stopped
from balrog_rag.episode.spec import Fork
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.replay import verify
from balrog_rag.run.services import LiveServices
from tests.support import edit_journal, rechained

TIMES = ("latency", "seconds", "chain")


class CountingServices(LiveServices):
    """Services whose model counts its requests by digest."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, int] = {}

    def model(self, player):
        model, asked = super().model(player), self.asked

        class Counting:
            name = model.name

            async def complete(self, request):
                asked[request.digest] = asked.get(request.digest, 0) + 1
                return await model.complete(request)

        return Counting()


def timeless(path: Path) -> list[object]:
    """A journal without times, and without the digests that depend on them."""

    def strip(value):
        if isinstance(value, dict):
            return {name: strip(inner) for name, inner in value.items() if name not in TIMES}
        return [strip(inner) for inner in value] if isinstance(value, list) else value

    return [strip(msgspec.json.decode(line)) for line in path.read_bytes().splitlines()]


@pytest.fixture
def journaled(specs, player, tmp_path):
    """Play one episode; return its spec and journal."""

    def play(*overrides: str, steps: int = 40):
        (spec,) = specs("env.tasks=[nle/NetHackChallenge-v0]", *overrides, steps=steps)
        asyncio.run(player()(spec))
        return spec, journal_path(tmp_path / "run", spec.episode)

    return play


@pytest.mark.parametrize("agent", ["naive", "cot", "robust_cot", "dummy", "random"])
def test_a_journal_verifies_and_holds_every_step(journaled, agent: str) -> None:
    _, path = journaled(f"agent={agent}")
    verdict = asyncio.run(verify(path))
    assert (verdict.steps, verdict.complete) == (40, True)
    end = journal.read(path).end
    assert end is not None
    assert (end.outcome, end.steps) == ("steps", 40)


def test_cut_anywhere_the_episode_goes_on_and_asks_nothing_twice(journaled, player) -> None:
    spec, path = journaled("agent=cot", steps=12)
    whole, data = timeless(path), path.read_bytes()
    completions = sum(1 for entry in whole if entry["t"] == "llm")
    for size in range(0, len(data), 97):
        path.write_bytes(data[:size])
        recorded = sum(1 for entry in journal.read(path).entries if isinstance(entry, journal.Completion))
        services = CountingServices()
        asyncio.run(player(services)(spec))
        assert timeless(path) == whole, size
        assert sum(services.asked.values()) == completions - recorded, size


@pytest.mark.slow
@pytest.mark.parametrize("every_byte", [True, False])
def test_episodes_that_were_cut_anywhere_are_completed(
    specs, player, tmp_path: Path, every_byte: bool
) -> None:
    """One short episode is cut at every byte, three longer ones round the ends of their lines."""
    episodes, steps = (1, 1) if every_byte else (3, 3)
    task = "env.tasks=[nle/NetHackChallenge-v0]"
    for spec in specs(task, "agent=robust_naive", episodes=episodes, steps=steps):
        asyncio.run(player()(spec))
        path = journal_path(tmp_path / "run", spec.episode)
        whole, data = timeless(path), path.read_bytes()
        ends = [size for size in range(len(data)) if b"\n" in data[max(size - 2, 0) : size + 1]]
        for size in range(len(data)) if every_byte else [0, *ends]:
            path.write_bytes(data[:size])
            asyncio.run(player()(spec))
            assert timeless(path) == whole, size


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("obs", "0" * 32, "step 5: obs is"),
        ("taken", "south", "step 5"),
        ("action", "fly", "step 5: the agent wants"),
        ("reward", 7.0, "step 5: reward is"),
        ("numbers", {"hp": 1}, "step 5: numbers is"),
    ],
)
def test_a_changed_step_is_named(journaled, field: str, value: object, says: str) -> None:
    _, path = journaled("agent=naive")

    def change(step):
        assert step["n"] == 5
        assert step.get(field) != value
        step[field] = value

    edit_journal(path, "step", change, at=5)
    with pytest.raises(ReplayError, match=says):
        asyncio.run(verify(path))


def test_changed_numbers_of_the_start_are_found_out(journaled) -> None:
    _, path = journaled("agent=random", steps=5)
    edit_journal(path, "start", lambda start: start["numbers"].update(depth=50))
    with pytest.raises(ReplayError, match="the game's first numbers differ"):
        asyncio.run(verify(path))


@pytest.mark.parametrize(
    "change",
    [
        lambda end: end["facts"].update(death="killed by kindness"),
        lambda end: end["facts"]["xlogfile"].update(points=10**6),
        lambda end: end["facts"]["kills"].update({"Wizard of Yendor": 1}),
    ],
)
def test_changed_facts_of_the_end_are_found_out(journaled, change) -> None:
    _, path = journaled("agent=random", "env.max_steps.nle=30", steps=100)
    assert asyncio.run(verify(path)).complete
    edit_journal(path, "end", change)
    with pytest.raises(ReplayError, match="the facts of the end differ from the journal's"):
        asyncio.run(verify(path))


def test_a_replay_under_another_user_has_the_same_facts(journaled) -> None:
    _, path = journaled("agent=random", "env.max_steps.nle=30", steps=100)
    edit_journal(path, "end", lambda end: end["facts"]["xlogfile"].update(uid=4711))
    assert asyncio.run(verify(path)).complete


def test_a_changed_prompt_is_named(journaled) -> None:
    _, path = journaled("agent=naive")
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith(b'{"t":"llm","step":7'))
    entry = msgspec.json.decode(lines[at])
    lines[at] = msgspec.json.encode({**entry, "request": "0" * 32}) + b"\n"
    path.write_bytes(rechained(b"".join(lines)))
    with pytest.raises(ReplayError, match="step 7: the act prompt differs from the one that was answered"):
        asyncio.run(verify(path))


def test_a_changed_answer_leads_elsewhere_and_is_found_out(journaled) -> None:
    _, path = journaled("agent=naive")
    entries = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    answer = next(entry for entry in entries if entry["t"] == "llm" and entry["step"] == 3)
    answer["reply"]["text"] = "pray" if answer["reply"]["text"] != "pray" else "north"
    path.write_bytes(rechained(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)))
    with pytest.raises(ReplayError, match="step 3: "):
        asyncio.run(verify(path))


def test_a_journal_of_another_spec_is_refused(journaled, specs, player) -> None:
    _, path = journaled("agent=naive")
    (other,) = specs("env.tasks=[nle/NetHackChallenge-v0]", "agent=cot")
    before = path.read_bytes()
    with pytest.raises(JournalError, match="another configuration"):
        asyncio.run(player()(other))
    assert path.read_bytes() == before


def test_an_invalid_answer_takes_the_default_and_the_agent_is_told(journaled, tmp_path: Path) -> None:
    _, path = journaled("agent=naive", "model.options.answers=[fly to the moon]", steps=3)
    steps = journal.read(path).steps
    assert [(step.action, step.taken, step.valid) for step in steps] == [
        ("fly to the moon", "esc", False)
    ] * 3


def test_an_answer_to_no_question_takes_the_default_too_and_replays(specs, player, tmp_path: Path) -> None:
    """MiniHack has no key for a letter while nothing is asked; what was played then is what is journaled."""
    words = ("env.tasks=[minihack/MiniHack-Corridor-R3-v0]", "agent=naive", "model.options.answers=[q]")
    (spec,) = specs(*words, steps=4)
    asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    assert [(step.action, step.taken, step.valid) for step in journal.read(path).steps] == [
        ("q", "north", False)
    ] * 4
    assert asyncio.run(verify(path)).steps == 4


def test_a_cap_ends_the_episode_scored_and_a_higher_cap_goes_on(specs, player, tmp_path: Path) -> None:
    (spec,) = specs("env.tasks=[nle/NetHackChallenge-v0]", "agent=naive", steps=10)
    path = journal_path(tmp_path / "run", spec.episode)
    first = asyncio.run(player(limits="limits.episode.tokens=6000")(spec))
    spent = [
        entry.reply.usage for entry in journal.read(path).entries if isinstance(entry, journal.Completion)
    ]
    assert first.outcome == "tokens"
    assert 0 < first.steps == len(spent) < 10
    assert sum(used.input + used.output for used in spent) >= 6000
    assert sum(used.input + used.output for used in spent[:-1]) < 6000
    verdict = asyncio.run(verify(path))
    assert (verdict.steps, verdict.complete) == (first.steps, True)
    services = CountingServices()
    second = asyncio.run(player(services)(spec))
    assert (second.outcome, second.steps) == ("steps", 10)
    assert sum(services.asked.values()) == 10 - first.steps
    assert asyncio.run(verify(path)).steps == 10


def test_stopping_leaves_an_open_journal(specs, player, tmp_path: Path) -> None:
    (spec,) = specs("env.tasks=[nle/NetHackChallenge-v0]", "agent=naive", steps=10)
    asked: list[int] = []

    class Until:
        def see(self, event) -> None:
            if isinstance(event, Stepped):
                asked.append(event.step)

    with pytest.raises(Stopped):
        asyncio.run(player(watcher=Until(), stopping=lambda: len(asked) >= 4)(spec))
    recording = journal.read(journal_path(tmp_path / "run", spec.episode))
    assert (len(recording.steps), recording.end) == (4, None)


def test_a_foreign_agent_that_raises_is_one_line(specs, player) -> None:
    (spec,) = specs("env.tasks=[nle/NetHackChallenge-v0]", "agent=naive")

    class Broken(LiveServices):
        def agent(self, *_):
            class Agent:
                async def act(self, observation) -> Decision:
                    raise ZeroDivisionError("oops")

            return Agent()

    with pytest.raises(PluginError, match="step 0: agent 'naive' raised ZeroDivisionError: oops") as raised:
        asyncio.run(player(Broken())(spec))
    assert re.search(r"test_play\.py:\d+ in act: ZeroDivisionError: oops$", raised.value.blame)
    assert 'raise ZeroDivisionError("oops")' in raised.value.trace


def test_a_fork_keeps_the_past_and_changes_the_player(specs, player, journaled, tmp_path: Path) -> None:
    spec, path = journaled("agent=naive", steps=20)
    (other,) = specs("env.tasks=[nle/NetHackChallenge-v0]", "agent=cot", steps=20)
    forked = msgspec.structs.replace(spec, forks=(Fork(8, other.player),))
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith(b'{"t":"llm","step":8'))
    header = journal.Header(journal.VERSION, forked, forked.digest, "config", {})
    new = journal_path(tmp_path / "fork", spec.episode)
    new.parent.mkdir(parents=True)
    new.write_bytes(rechained(msgspec.json.encode(header) + b"\n" + b"".join(lines[1:at])))
    services = CountingServices()
    asyncio.run(player(services, run=tmp_path / "fork")(forked))
    old_steps, new_steps = journal.read(path).steps, journal.read(new).steps
    assert new_steps[:8] == old_steps[:8]
    assert len(new_steps) == 20
    assert sum(services.asked.values()) == 12
    answers = [
        entry.reply.text for entry in journal.read(new).entries if isinstance(entry, journal.Completion)
    ]
    assert all("ACTION:" not in text for text in answers[:8])
    assert all("ACTION:" in text for text in answers[8:])
    assert asyncio.run(verify(new)).complete


def test_a_spec_read_back_has_the_same_digest(specs) -> None:
    for spec in specs("env=balrog", "agent=robust_star_rag"):
        again = msgspec.json.decode(msgspec.json.encode(spec), type=type(spec))
        assert again == spec
        assert again.digest == spec.digest
