"""The delver's skills as actions of a game."""

import msgspec

from balrog_rag.contracts.data import ProgramPlayer
from balrog_rag.envs.nethack.world.shared_player import player_of
from balrog_rag.workers.host import HostedGame
from tests.bots.netplay.made import ROOM, Played, made
from tests.envs.support import nethack

OFFERED = ("dig_down", "see_level", "hold_out", "strike", "pray_when_due", "advance_skill")


def hosted(character: str, seed: int = 3) -> HostedGame:
    spec = nethack(seed, character, no_progress=0, autopickup=False)
    return HostedGame(msgspec.structs.replace(spec, programs=OFFERED))


def test_an_archeologist_digs_down_by_one_word():
    game = hosted("arc-dwa-law-mal")
    assert "dig_down" in game.view.actions
    seen = game.step("dig_down")
    for _ in range(5):  # what comes into view interrupts it
        if seen.observation.numbers["depth"] == 2:
            break
        seen = game.step("dig_down")
    assert seen.observation.numbers["depth"] == 2
    game.close()


def test_skills_say_why_they_stopped():
    game = hosted("val-dwa-law-fem")
    assert game.step("dig_down").stopped == "nothing to dig with"
    assert game.step("pray_when_due").stopped == "there is no need that a god would see to"
    assert game.step("advance_skill").stopped == "no skill can be advanced"
    assert game.step("hold_out").stopped == "Elbereth stands here"
    assert game.step("strike").stopped in ("no enemy is in sight", "nobody within reach")
    assert game.step("see_level").keys > 5
    game.close()


def wounded(game: Played, x: int, y: int) -> None:
    """Kick a wall until a god would help."""
    for _ in range(100):
        if game.number("hp") <= 5:
            return
        before = game.number("hp")
        game.do(f"kick {x - 1} {y}")
        if game.number("hp") == before:  # a leg is hurt
            game.do("rest 5")
    raise AssertionError("the wall did not hurt")


def praying() -> Played:
    """A game at turn 300 or later, beside a wall, with keys, skills and a program that prays."""
    game = made(ROOM, no_progress_calls=0, programs=("pray_when_due",))
    for _ in range(30):
        if game.number("turn") >= 300:
            return game
        game.do("rest 20")
    raise AssertionError("no time passed")


def test_a_prayer_of_the_program_is_remembered() -> None:
    game = praying()
    x, y = game.here
    wounded(game, x, y)
    assert game.do("pray_when_due") == "prayed"
    assert game.number("hp") == game.number("max_hp")
    wounded(game, x, y)
    assert game.do("pray_when_due").startswith("it is too early: you prayed ")
    assert game.number("hp") <= 5


def test_prayers_by_keys_and_skills_are_remembered() -> None:
    game = made(ROOM, no_progress_calls=0, programs=("pray_when_due",))
    game.do("pray")  # far too early
    wounded(game, *game.here)
    assert game.do("pray_when_due") == "your god is angry and would not help"
    keys = hosted("val-dwa-law-fem")
    keys.play(["pray", "y", "search", "search"])
    assert player_of(keys._game.screen).prayed in range(1, 6)  # it may be shown after the prayer's turns
    assert player_of(keys._game.screen).unlucky
    keys.close()


def test_programs_know_what_a_bot_learned() -> None:
    game = hosted("val-dwa-law-fem")
    assert game.step("pray_when_due").stopped == "there is no need that a god would see to"
    before = player_of(game._game.screen)
    assert before.race == ""
    game.run(ProgramPlayer("delver", {}, 3), 60)
    after = player_of(game._game.screen)
    assert after is before
    assert after.race == "dwarven"
    game.close()
