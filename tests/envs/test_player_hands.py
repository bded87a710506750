"""How a player presses keys: pages, questions nobody expected, and standing still."""

import pytest

from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world.player import Pit, Player
from balrog_rag.envs.nethack.world.screen import Screen
from tests.envs.drawn import Drawn, at, monster


class Game:
    """A game that answers each key by the next of its scripted screens, or stays as it is."""

    def __init__(self, *answers):
        self.shown = Drawn("|.@...|")
        self.player = Player(self.shown.arrays)
        self.pressed = []
        self._answers = list(answers)

    def run(self, skill):
        """Play a skill to its end, and return what it said."""
        try:
            key = next(skill)
            for _ in range(1000):
                self.pressed.append(chr(key))
                if self._answers:
                    answer = dict(self._answers.pop(0))
                    numbers = answer.pop("numbers", {})
                    self.shown.say(**answer)
                    self.shown.number(**numbers)
                key = skill.send(self.shown.arrays)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("the skill did not end")


ESC, ENTER = chr(keys.ESC), chr(keys.ENTER)
PAGE = {"message": "You fall.--More--", "page": True}
QUIET = {"message": ""}


def test_pages_are_turned_after_a_key_and_all_that_was_said_is_heard():
    game = Game(PAGE, PAGE | {"message": "You die.--More--"}, {"message": "Goodbye."})
    game.run(game.player.press(ord("s")))
    assert game.pressed == ["s", ENTER, ENTER]
    assert game.player.heard == ["You fall.--More--", "You die.--More--", "Goodbye."]
    assert game.player.said("fall", "no such")
    assert not game.player.said("no such")


def test_pages_without_an_end_are_not_turned_for_ever():
    game = Game(*[PAGE] * 500)
    game.run(game.player.press(ord("s")))
    assert len(game.pressed) == 61


def test_a_command_closes_what_was_open_before_and_what_it_opened():
    question = {"message": "In what direction?", "question": True}
    game = Game(QUIET, question, QUIET)
    game.shown.say("Really quit?", question=True)
    game.player.screen = Screen(game.shown.arrays)
    game.run(game.player.command(ord("F")))
    assert game.pressed == [ESC, "F", ESC]


def test_a_question_that_does_not_go_away_is_given_up():
    game = Game()
    game.shown.say("Really quit?", question=True)
    game.run(game.player.close())
    assert game.pressed == [ESC] * 12


@pytest.mark.parametrize(
    ("questions", "replies", "pressed", "answered"),
    [
        ([QUIET], [("eat it", "y")], "e", False),
        ([{"message": "There is a newt corpse here; eat it?", "question": True}, QUIET],
         [("eat it", "y")], "ey", True),
        ([{"message": "What do you want to eat?", "question": True}, QUIET],
         [("eat it", "y")], f"e{ESC}", False),
        ([{"message": "eat it?", "question": True}, {"message": "want to eat?", "question": True}, QUIET],
         [("eat it", "n"), ("want to eat", "c")], "enc", True),
        ([{"message": "Call it:", "text": True}, QUIET, QUIET, QUIET],
         [("Call it", "ab")], f"eab{ENTER}", True),
    ],
)  # fmt: skip
def test_questions_are_answered_by_the_first_reply_that_fits(questions, replies, pressed, answered):
    game = Game(*questions)
    assert game.run(game.player.ask(ord("e"), *replies)) == answered
    assert "".join(game.pressed) == pressed
    if ESC in pressed:
        assert "What do you want to eat?" in game.player.heard, "what was not understood is kept"


def test_a_player_who_stands_still_for_long_does_something_that_takes_time():
    game = Game()
    for _ in range(61):
        game.run(game.player.press(ord(":")))
    assert game.player.standstill == 61
    game.pressed.clear()
    game.run(game.player.begin())
    assert game.pressed == [ESC, "s"]


def test_standing_still_ends_with_a_turn():
    game = Game(QUIET, QUIET, QUIET | {"numbers": {"turn": 2}}, QUIET)
    counts = []
    for _ in range(4):
        game.run(game.player.press(ord(".")))
        counts.append(game.player.standstill)
    assert counts == [1, 2, 0, 1]


@pytest.mark.parametrize(
    ("messages", "feverish", "cursed"),
    [
        (["You feel feverish."], True, False),
        (["You feel feverish.", "You feel purified."], False, False),
        (["You have no free hand to write with!"], False, True),
        (["You feel fine."], False, False),
    ],
)
def test_what_is_said_of_our_health_is_remembered(messages, feverish, cursed):
    game = Game(*({"message": message} for message in messages))
    for _ in messages:
        game.run(game.player.press(ord("s")))
    assert (game.player.feverish, game.player.cursed_hands) == (feverish, cursed)


def test_enemies_are_the_nearest_first_and_within_a_distance():
    shown = Drawn("@" + "." * 20)
    for x, glyph in (
        (4, monster("newt")),
        (2, monster("jackal")),
        (3, monster("kitten", "PET")),
        (9, monster("newt")),
    ):
        shown.put(x + 1, 1, glyph)
    player = Player(shown.arrays)
    assert [enemy.place for enemy in player.hostiles()] == [at(2, 0), at(4, 0), at(9, 0)]
    assert [enemy.place for enemy in player.hostiles(within=4)] == [at(2, 0), at(4, 0)]
    player.world.monsters[0].peaceful = True
    assert len(player.hostiles()) == 2


def test_a_pit_is_here_only_where_and_on_the_level_that_it_was_dug():
    game = Game()
    player = game.player
    assert player.pit_here is None
    player.pit = Pit(player.level, player.here)
    assert player.pit_here is player.pit
    game.shown.number(x=5)
    game.run(player.press(ord("l")))
    assert player.pit_here is None
    game.shown.number(x=3, level=2)
    game.run(player.press(ord(">")))
    assert player.pit_here is None, "the same square of another level"
