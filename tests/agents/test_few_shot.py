"""Demonstrations: made from journals and recordings, shown before every prompt, checked by their hash."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import nle
import pytest

from balrog_rag.agents import resolve
from balrog_rag.agents.demonstration_files import load
from balrog_rag.agents.demonstrations import Demonstration, DemonstrationTurn, shortened, write
from balrog_rag.cli.prompts import main
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError, ReplayError
from balrog_rag.episode.journal import Header, Start, Step
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.results.run_folder import journal_path
from balrog_rag.workers.host import HostedGame
from balrog_rag.workers.inline import InlineGames
from tests.agents.support import VIEW, Script, agent_config, made, moment, perform

GAME = GameSpec("nle", "NetHackChallenge-v0", Seeds(3, 3), options={"character": "mon-hum-neu-mal"})
ACTIONS = ["far east", "drop", "d", "search", "kick", "north"]


def demonstration(path: Path, *actions: str) -> str:
    write(
        path,
        Demonstration(
            "nle/x", "a test", tuple(DemonstrationTurn(f"saw {action}", action) for action in actions)
        ),
    )
    return str(path)


def few_shot(*paths: str, most: int = 1000) -> tuple[str, ...]:
    """The texts of the first prompt."""
    script = Script(act="north")
    named = f"agent.demonstrations=[{','.join(paths)}]"
    config = resolve(agent_config("few_shot", named, f"agent.max_icl_history={most}"))
    perform(made(config, VIEW, script), [moment(1)])
    return tuple(message.text for message in script.requests[0].messages)


def test_demonstrations_stand_between_instruction_and_game(tmp_path: Path) -> None:
    one = demonstration(tmp_path / "1.json", "north", "search")
    two = demonstration(tmp_path / "2.json", "eat")
    instruction, *shown, newest = few_shot(one, two)
    assert "study the demonstrations" in instruction
    assert "PLAY!" not in instruction
    assert shown == [
        "****** DEMONSTRATION 1 BEGINS ******",
        "Observation:\nsaw north",
        "north",
        "Observation:\nsaw search",
        "search",
        "****** DEMONSTRATION 1 ENDS ******",
        "****** DEMONSTRATION 2 BEGINS ******",
        "Observation:\nsaw eat",
        "eat",
        "****** DEMONSTRATION 2 ENDS ******",
        "****** From here on, you play! ******",
    ]
    assert newest.startswith("Current Observation:")


WHOLE = ["begins 1", "saw north", "north", "saw eat", "eat", "ends 1"]


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (8, [*WHOLE, "begins 2", "saw a", "a", "ends 2", "begins 3", "saw A", "A", "ends 3"]),
        (5, [*WHOLE, "begins 2", "saw a", "ends 2"]),
        (4, [*WHOLE, "begins 2", "ends 2"]),
        (3, [*WHOLE[:4], "ends 1"]),
        (1, [*WHOLE[:2], "ends 1"]),
    ],
)
def test_demonstrations_are_bounded_by_messages_as_in_balrog(
    tmp_path: Path, most: int, shown: list[str]
) -> None:
    one = demonstration(tmp_path / "1.json", "north", "eat")
    two = demonstration(tmp_path / "2.json", "a")
    three = demonstration(tmp_path / "3.json", "A")
    _, *texts, _, _ = few_shot(one, two, three, most=most)
    short = [re.sub(r"\*+ DEMONSTRATION (\d) (BEGINS|ENDS) \*+", r"\2 \1", text) for text in texts]
    assert [text.removeprefix("Observation:\n") for text in short] == [
        name.upper() if name.startswith(("begins", "ends")) else name for name in shown
    ]


def test_a_demonstration_ends_with_what_its_last_action_led_to(tmp_path: Path) -> None:
    turns = tuple(DemonstrationTurn(f"saw {number}", "north") for number in range(3))
    write(tmp_path / "1.json", Demonstration("nle/x", "a test", turns, "saw the end"))
    write(tmp_path / "2.json", shortened(load([str(tmp_path / "1.json")], None)[0], 1))
    texts = few_shot(str(tmp_path / "1.json"), str(tmp_path / "2.json"))
    assert texts[7:9] == ("north", "Observation:\nsaw the end")
    assert texts[-6:-3] == ("Observation:\nsaw 0", "north", "Observation:\nsaw 1")


def test_few_shot_without_demonstrations_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"balrog-rag prompts demonstrate"):
        resolve(agent_config("few_shot"))


def test_changed_demonstrations_are_refused(tmp_path: Path) -> None:
    path = demonstration(tmp_path / "1.json", "north")
    resolved = resolve(agent_config("few_shot", f"agent.demonstrations=[{path}]"))
    assert resolved.demonstrations_digest is not None
    assert load([path], resolved.demonstrations_digest)[0].turns[0].action == "north"
    with pytest.raises(ConfigError, match="differ from the files that this run started with"):
        load([path], "0" * 32)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"task": 1, "source": "", "turns": []}'])
def test_a_file_that_is_no_demonstration_is_one_clear_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ConfigError, match=r"x\.json is not a demonstration file"):
        load([str(tmp_path / "x.json")], None)


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load([str(tmp_path / "none.json")], None)


async def played(recording: str | None = None) -> tuple[list[str], list[str]]:
    """The digests and long parts of a real game."""
    game = await InlineGames().open(GAME, recording)
    seen = [game.start.observation, *(each.observation for each in await game.play(ACTIONS))]
    await game.close()
    return [each.digest for each in seen], [each.long_term for each in seen]


def journal(path: Path, digests: list[str]) -> None:
    spec = EpisodeSpec("nle/NetHackChallenge-v0/00", GAME, PlayerSpec({}, {}, {}))
    with Writer(path) as writer:
        writer.append(Header(1, spec, spec.digest, "", {}))
        writer.append(Start(digests[0], {}))
        for n, action in enumerate(ACTIONS):
            writer.append(Step(n, action, action, digests[n + 1]))


def test_a_journal_becomes_a_demonstration(tmp_path: Path) -> None:
    digests, texts = asyncio.run(played())
    journal(tmp_path / "00.jsonl", digests)
    assert main(["demonstrate", str(tmp_path / "00.jsonl"), str(tmp_path / "d.json")]) == 0
    made_of = msgspec.json.decode((tmp_path / "d.json").read_bytes(), type=Demonstration)
    assert [turn.action for turn in made_of.turns] == ACTIONS
    assert [turn.observation for turn in made_of.turns] == texts[:-1]
    assert made_of.last == texts[-1]


def test_a_journal_of_another_game_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digests, _ = asyncio.run(played())
    journal(tmp_path / "00.jsonl", [*digests[:2], *["0" * 32] * 10])
    assert (
        main(["demonstrate", str(tmp_path / "00.jsonl"), str(tmp_path / "d.json")]) == ReplayError.exit_code
    )
    assert "step 1: the replayed game shows a different screen" in capsys.readouterr().err


def test_a_recording_becomes_a_demonstration(tmp_path: Path) -> None:
    recording = tmp_path / "x.0.ttyrec3.bz2"
    _, texts = asyncio.run(played(str(recording)))
    assert main(["demonstrate", str(recording), str(tmp_path / "d.json"), "--steps", "5"]) == 0
    turns = msgspec.json.decode((tmp_path / "d.json").read_bytes(), type=Demonstration).turns
    # The greeting of a new game, which NLE itself skips, is part of its recordings.
    assert [turn.action for turn in turns] == ["space", *ACTIONS[:4]]

    def picture(text: str) -> str:
        return text.split("map:\n")[1].rstrip()

    assert [picture(turn.observation) for turn in turns[1:]] == [picture(text) for text in texts[:4]]


def test_older_recordings_become_one_where_they_hold_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Recordings that nle brings for its own tests."""
    theirs = Path(nle.__file__).parent / "tests"
    made, keys = tmp_path / "d.json", theirs / "nle.2734875.0.ttyrec2.bz2"
    assert main(["demonstrate", str(keys), str(made), "--steps", "3"]) == 0
    turns = msgspec.json.decode(made.read_bytes(), type=Demonstration).turns
    assert [turn.action for turn in turns] == ["east", "east", "south"]
    without = theirs / "2012-02-16.21_09_51.ttyrec.bz2"
    assert main(["demonstrate", str(without), str(tmp_path / "none.json")]) != 0
    assert "contains no key presses" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "some"),
    [
        (("env.tasks=[nle/NetHackChallenge-v0]", "agent=random"), set()),
        (("env.tasks=[nle/NetHackChallenge-v0]", "agent=delver"), set()),
        (("env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]", "agent=scripted"), {"go forward"}),
    ],
)
def test_a_programs_episode_is_a_demonstration_of_its_presses(
    tmp_path: Path, specs: Callable, player: Callable, words: tuple[str, ...], some: set[str]
) -> None:
    """What it pressed, each by the name of an action, with what was seen before it."""
    (spec,) = specs(*words, steps=30)
    end = asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    assert main(["demonstrate", str(path), str(tmp_path / "d.json")]) == 0
    (made,) = load([str(tmp_path / "d.json")], None)
    assert len(made.turns) == end.steps
    actions = HostedGame(spec.game).view.accepted
    assert some <= {turn.action for turn in made.turns} <= actions
    assert len({turn.observation for turn in made.turns}) > 1
