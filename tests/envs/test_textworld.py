"""TextWorld's games: built from their seeds, played, and compared with recordings of BALROG's."""

import gzip
import json
import os
from pathlib import Path

import pytest

from balrog_rag.cli.envs import main
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.textworld.building import build, missing
from balrog_rag.envs.textworld.game import make
from balrog_rag.envs.textworld.games import TASKS, games
from balrog_rag.envs.textworld.player import play
from balrog_rag.envs.textworld.story import Story
from balrog_rag.envs.textworld.words import as_glulx, safe_command, without_goal

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings" / "textworld.jsonl.gz"
COIN = ("coin_collector", "level_220_seed_100")
OTHERS = [("treasure_hunter", "seed_10033"), ("the_cooking_game", "cooking_item5_seed_10980")]

COOKED = ["go north", "take orange bell pepper", "go south", "cook orange bell pepper with BBQ"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache folder with one game in it."""
    pytest.importorskip("textworld", reason="the extra [textworld] is not installed")
    folder = tmp_path_factory.mktemp("cache")
    build([COIN], folder=folder / "textworld")
    return folder


@pytest.fixture
def coin(cache):
    """A game of the coin collector."""
    game = make("coin_collector", 0, cache / "textworld")
    yield game
    game.close()


def recorded(path, task):
    """The recordings of one task."""
    with gzip.open(RECORDINGS) as file:
        lines = [line for line in file if json.loads(line)["task"] == task]
    path.write_bytes(gzip.compress(b"".join(lines)))
    return str(path)


def test_every_recorded_state_is_ours(cache, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BALROG_RAG_CACHE", str(cache))
    assert main(["conform", recorded(tmp_path / "coin.jsonl.gz", "coin_collector")]) == 0
    assert "2 episodes, 102 states compared, 0 differing" in capsys.readouterr().out


@pytest.mark.slow
def test_every_recorded_state_of_the_other_games_is_ours(tmp_path, monkeypatch):
    pytest.importorskip("textworld", reason="the extra [textworld] is not installed")
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path))
    build([COIN, *OTHERS])
    assert main(["conform", str(RECORDINGS)]) == 0
    game = make("the_cooking_game", 0)
    game.reset()
    advice = game.policy()
    game.close()
    assert (advice[9:13], len(advice)) == (COOKED, 31), "the same under every Python; see _sort_alike"


def test_built_games_are_built_no_more_and_a_seed_counts_through_all(cache):
    assert COIN not in missing(cache / "textworld")
    assert len(missing(cache / "textworld")) == 74
    assert [len(games(task)) for task in TASKS] == [25, 25, 25]
    again = make("coin_collector", 50, cache / "textworld")
    assert again.reset() == make("coin_collector", 0, cache / "textworld").reset()


def test_a_game_can_be_built_from_its_description(cache, tmp_path):
    build([COIN], source=cache / "textworld", folder=tmp_path)
    built, before = (
        folder / "coin_collector/level_220_seed_100.z8" for folder in (tmp_path, cache / "textworld")
    )
    assert len(built.read_bytes()) == len(before.read_bytes())
    with pytest.raises(ConfigError, match=r"contains no the_cooking_game/.*json; pass BALROG's folder"):
        build(OTHERS[1:], source=cache / "textworld", folder=tmp_path)


def test_a_game_that_cannot_be_built_is_one_line(cache, tmp_path):
    (tmp_path / "coin_collector").mkdir()
    (tmp_path / "coin_collector" / "level_220_seed_100.json").write_text("no game")
    with pytest.raises(BalrogError, match="textworld/coin_collector/level_220_seed_100: cannot be built"):
        build([COIN], source=tmp_path, folder=tmp_path / "built")
    assert not list((tmp_path / "built").rglob("*.z8"))


def test_what_is_missing_is_one_line(cache, monkeypatch):
    with pytest.raises(ConfigError, match=r"run: balrog-rag envs build textworld"):
        make("coin_collector", 1, cache / "textworld")
    monkeypatch.setattr("balrog_rag.util.extras.find_spec", lambda name: None)
    with pytest.raises(
        ConfigError, match=r"textworld is not installed; pip install 'balrog_rag\[textworld\]'"
    ):
        make("coin_collector", 0, cache / "textworld")


def test_its_own_commands_win(coin):
    coin.reset()
    player = play(coin.policy)
    while not (moment := coin.step(next(player))).ended:
        assert moment.progression == 0.0
    assert (moment.ended, moment.reward, moment.progression) == (Outcome.SOLVED, 1.0, 1.0)
    assert moment.long.endswith("command?\n>")


def test_a_restart_begins_the_game_again(coin):
    """The interpreter then reads the file again, which must still be there."""
    first = coin.reset().long
    assert coin.step("go south").long != first
    coin.step("restart")
    assert coin.step("yes").long == first
    assert coin.step("go north").long.startswith("-= ")


def test_games_share_the_pages_of_their_file(cache):
    """Copied, they are 1.3 MB a game."""
    import psutil

    games = []
    for _ in range(23):
        games.append(make("coin_collector", 0, cache / "textworld"))
        games[-1].reset()
        if len(games) == 3:
            before = psutil.Process().memory_full_info().uss
    grown = (psutil.Process().memory_full_info().uss - before) / 20
    assert grown < 0.9 * 2**20
    said = [game.step("go south").long for game in games]
    assert len(set(said)) == 1
    del games[::2]  # given back without being closed
    assert [game.step("look").long for game in games] == [games[0].step("look").long] * len(games)


TYPED = ["look", "go south", "take coin", "look. look", "undo", "score", "quit", "y", "restart", "n", "i", ""]


def test_what_a_game_says_is_what_textworlds_own_wrappers_say(cache):
    textworld = pytest.importorskip("textworld")
    path = cache / "textworld" / COIN[0] / f"{COIN[1]}.z8"
    story = Story(path)
    wanted = textworld.EnvInfos(objective=True, score=True, max_score=True, won=True, lost=True)
    theirs = textworld.start(str(path), wanted)
    winning = textworld.start(str(path), textworld.EnvInfos(policy_commands=True)).reset().policy_commands
    for typed in (TYPED, winning):
        story.reset()
        state = theirs.reset()
        assert (story.text, story.goal, story.max_score) == (state.feedback, state.objective, state.max_score)
        for command in typed:
            story.step(command)
            state, score, _ = theirs.step(command)
            assert (story.text, story.score) == (state.feedback, score)
            assert (story.won, story.lost) == (state.won, state.lost)
    assert (story.won, story.score) == (True, 1)
    story.close()
    theirs.close()


def test_a_game_is_built_without_informs_runtime_checks(cache):
    path = cache / "textworld" / COIN[0] / f"{COIN[1]}.z8"
    assert path.stat().st_size < 400_000, "it has 421 kB with the checks, and a step takes 1.6 times as long"


def test_a_game_ends_at_its_limit(coin):
    coin.reset()
    moments = [coin.step("look") for _ in range(80)]
    assert [moment.ended for moment in moments] == [""] * 79 + [Outcome.STEPS]
    assert moments[-1].progression == 0.0


def test_no_command_reads_or_writes_a_file(coin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    coin.reset()
    for command in (
        "save",
        "SCRIPT",
        "look. save",
        "look then script",
        "restore",
        "take coin, save",
        "recording on",
    ):
        coin.step(command)
    assert os.listdir(tmp_path) == []
    assert safe_command("go south") == "go south"
    assert safe_command("take manuscript") == "take manuscript"


def test_anything_may_be_typed(coin):
    first = coin.reset()
    room = first.long.partition("\n")[0]
    for command in ("", " ", "x" * 5000, "look\nlook", "привет", '"', "quit", "y", "restart", "n", "undo"):
        assert not coin.step(command).ended
    assert coin.step("look").long.startswith(room)


def test_two_games_do_not_meet(cache):
    one, other = (make("coin_collector", 0, cache / "textworld") for _ in range(2))
    start = one.reset()
    assert other.reset() == start
    one.step("go south")
    assert other.step("look").long.startswith(start.long.partition("\n")[0])


def test_pages_are_shown_as_by_the_other_machine():
    status = "\n\n>" + " " * 40 + "-= Salon =-0/20"
    assert as_glulx("You look." + status, over=False) == "You look."
    page = "Well.\n" + " " * 55 + "*** The End ***\n\nQUIT?\n>" + " " * 40 + "-= Salon =-0/20"
    assert as_glulx(page, over=True) == "Well.\n" + " " * 31 + "*** The End ***\n\nQUIT?\n>"
    assert without_goal("Welcome! Find the coin.\n\n-= Attic =-\n", "Find the coin.") == "-= Attic =-"
