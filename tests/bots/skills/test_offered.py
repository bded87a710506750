"""The delver's skills as actions of a game."""

import msgspec

from balrog_rag.workers.host import HostedGame
from tests.envs.support import nethack

OFFERED = ("dig_down", "see_level", "hold_out", "strike", "pray_when_due")


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
    assert game.step("hold_out").stopped == "Elbereth stands here"
    assert game.step("strike").stopped in ("no enemy is in sight", "nobody within reach")
    assert game.step("see_level").keys > 5
    game.close()
