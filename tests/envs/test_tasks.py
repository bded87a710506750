import subprocess
import sys

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import check_game
from balrog_rag.envs.nethack.characters import characters, check_character
from tests.envs.support import nethack


@pytest.mark.parametrize(
    ("env", "task", "line"),
    [
        (
            "nle",
            "NetHackChalenge-v0",
            "unknown task 'NetHackChalenge-v0' of nle; did you mean NetHackChallenge-v0?",
        ),
        ("minihack", "MiniHack-Quest-Eesy-v0", "did you mean MiniHack-Quest-Easy-v0"),
        ("minihack", "zzz", "of minihack; `balrog-rag envs tasks minihack` lists them"),
        ("minihak", "MiniHack-Quest-Easy-v0", "unknown environment 'minihak'; did you mean minihack?"),
    ],
)
def test_a_wrong_name_is_one_line_with_the_nearest(env, task, line):
    with pytest.raises(ConfigError) as caught:
        check_game(GameSpec(env, task, Seeds(1, 1)))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("character", "near"),
    [
        ("val-dwa-law-mal", "val-dwa-law-fem"),
        ("val", "write @ for any"),
        ("valkyrie", "write @ for any"),
        ("sam-hum-law", "sam-hum-law-"),
        ("", "write @ for any"),
        ("tou-gno-neu-mal", "tou-hum-neu-mal"),
    ],
)
def test_a_wrong_character_is_one_line(character, near):
    with pytest.raises(ConfigError, match=near):
        check_character(character)


def test_all_characters_are_right():
    assert len(characters()) == 73
    for character in ("@", *characters()):
        check_character(character)


def test_names_are_checked_without_nethack():
    """`--help` and a wrong name must not wait for nle, gymnasium or minihack."""
    code = (
        "import sys; from balrog_rag.contracts.kinds import check_game\n"
        "from balrog_rag.contracts.data import GameSpec, Seeds\n"
        "check_game(GameSpec('nle', 'NetHackChallenge-v0', Seeds(1, 1)))\n"
        "check_game(GameSpec('minihack', 'MiniHack-Quest-Easy-v0', Seeds(1, 1)))\n"
        "from balrog_rag.envs.nethack.progression import table; table()\n"
        "assert not {'nle', 'gymnasium', 'minihack', 'numpy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("character", ["val-hum-law-mal"])
def test_a_game_is_checked_before_it_is_made(character):
    with pytest.raises(ConfigError):
        check_game(nethack(character=character))


def test_seeds_that_nethack_does_not_take():
    with pytest.raises(ConfigError, match="seed -1"):
        check_game(GameSpec("nle", "NetHackChallenge-v0", Seeds(-1, 1)))


def test_the_command_lists_tasks():
    done = subprocess.run(
        [sys.executable, "-m", "balrog_rag.envs", "tasks", "minihack"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "minihack/MiniHack-Boxoban-Hard-v0" in done.stdout.splitlines()
