import io

import numpy as np
import pytest
from PIL import Image

from balrog_rag.envs.nethack import language
from balrog_rag.workers.inline import InlineGame
from tests.envs.support import minihack, nethack, play


def arrays_of(game):
    return game._hosted._environment.inner.screen


@pytest.fixture
def game():
    game = InlineGame(nethack(character="@"))
    yield game
    game._hosted.close()


def screen(raw):
    """The map part by BALROG's definition: every row and a newline, without the first line."""
    text = "".join("".join(chr(sign) for sign in row) + "\n" for row in raw["tty_chars"])
    return "\n".join(text.split("\n")[1:])


def test_the_hybrid_layout_is_balrogs(game):
    raw, seen = arrays_of(game), game.start.observation
    row, column = raw["tty_cursor"]
    assert seen.long_term == (
        f"message:\n{language.text_message(raw['tty_chars'])}\n\n"
        f"language observation:\n{language.text_glyphs(raw['glyphs'], raw['blstats'])}\n\n"
        f"cursor:\n{language.text_cursor(raw['glyphs'], raw['blstats'], raw['tty_cursor'])}"
        f"\n(x={column}, y={row})\n\n"
        f"map:\n{screen(raw)}\n"
    )
    assert seen.short_term == (
        f"inventory:\n{language.text_inventory(raw['inv_strs'], raw['inv_letters'])}\n"
    )


def test_the_language_layout_is_balrogs():
    game = InlineGame(nethack(layout="language"))
    raw, seen = arrays_of(game), game.start.observation
    assert seen.long_term == (
        f"message:\n{seen.text('message')}\n\nlanguage observation:\n{seen.text('language observation')}\n\n"
        f"cursor:\n{language.text_cursor(raw['glyphs'], raw['blstats'], raw['tty_cursor'])}\n"
    )
    assert seen.short_term == (
        f"statistics:\n{language.text_blstats(raw['blstats'])}\n\ninventory:\n{seen.text('inventory')}\n"
    )
    game._hosted.close()


@pytest.mark.parametrize("spec", [nethack(layout="image"), minihack("Corridor-R3", layout="image")])
def test_the_image_layout_draws_minihacks_tiles(spec):
    from minihack.tiles import GlyphMapper

    game = InlineGame(spec)
    seen = game.start.observation
    picture = np.asarray(Image.open(io.BytesIO(seen.pictures[0])))
    assert picture.shape == (336, 1264, 3)
    assert np.array_equal(picture, GlyphMapper().to_rgb(arrays_of(game)["glyphs"]))
    assert "map:" not in seen.long_term
    assert "statistics:" in seen.short_term
    game._hosted.close()


def test_stats_say_what_the_bottom_lines_say(game):
    raw, stats = arrays_of(game)["blstats"], game.start.observation.numbers
    bottom = game.start.observation.text("map")
    assert f"HP:{stats['hp']}({stats['max_hp']})" in bottom
    assert f"Dlvl:{stats['depth']}" in bottom
    assert f"AC:{stats['armor_class']}" in bottom
    assert f"Xp:{stats['experience_level']}/{stats['experience']} T:{stats['turn']}" in bottom
    assert (stats["x"], stats["y"], stats["alignment"]) == (raw[0], raw[1], raw[26])


def test_pages_are_joined_as_balrog_joins_them():
    pages = play(nethack(skip_more=False), ["pray", "y", "more", "more"])[2:]
    joined = play(nethack(), ["pray", "y"])[2]
    texts = [page.observation.text("message") for page in pages]
    assert [text.count("--More--") for text in texts] == [1, 1, 0]
    assert joined.observation.text("message") == "".join(text.replace("--More--", "\n") for text in texts)
    assert joined.keys == 3
    assert [page.keys for page in pages] == [1, 1, 1]
    assert joined.observation.text("map") == pages[-1].observation.text("map")


def test_minihack_keeps_the_messages_of_pages_its_task_turns():
    spec = minihack("Pray-Fixed", character="cav-hum-neu-mal")
    messages = [seen.observation.text("message") for seen in play(spec, ["pray", "y"])]
    assert "You begin praying" in messages[-1]
    assert "\n" in messages[-1]
    assert "--More--" not in messages[-1]


def test_the_digest_hashes_what_is_seen():
    first, second = (play(nethack(), ["search", "west"]) for _ in range(2))
    assert [seen.observation.digest for seen in first] == [seen.observation.digest for seen in second]
    assert len({seen.observation.digest for seen in first}) == 3
    other = play(nethack(seed=4), [])
    assert other[0].observation.digest != first[0].observation.digest
