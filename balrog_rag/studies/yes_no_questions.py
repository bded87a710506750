"""Does a passage change the answer to one question? The yes/no questions of finished games, put to any model.

Each question is asked three times: without a passage, with the passage that the search finds for it, and with
one that it found for another question. The right answer follows from the game's rules: no person judges.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, get_args

import msgspec

from balrog_rag.contracts.behaviour import Model
from balrog_rag.contracts.data import AnswerFormat, Message, Observation, Passage, Request
from balrog_rag.studies.endings import ObservedGame, RecordedSearches
from balrog_rag.studies.judgements import wilson

Arm = Literal["none", "shuffled", "passage"]
ARMS: tuple[Arm, ...] = get_args(Arm)
YES_NO = AnswerFormat(("y", "n"))
_ALIKE = 3
"""Most questions of the same words that are taken from one game."""
_PROMPT = """You are playing {game}. The game asks a question; answer with one letter, y (yes) or n (no).
{passage}
This is the situation:

{situation}

Question: {question}
Answer with y or n."""
_REFERENCE = "\nFrom a guide to the game:\n{title}\n{text}\n"


@dataclass(frozen=True)
class YesNoQuestion:
    """An open question of a game, the right answer and the query about it."""

    file: str
    step: int
    question: str
    right: str
    """y or n."""
    query: str
    situation: str
    game: str


class AnsweredQuestion(msgspec.Struct, frozen=True):
    """The answers of one model to one question; "" if it gave neither letter."""

    file: str
    step: int
    question: str
    right: str
    passage: str
    """Id of the passage that was found."""
    other: str
    """Id of the passage that was found for another question."""
    answers: dict[Arm, str]


class ArmScore(msgspec.Struct, frozen=True):
    """How often one arm was right."""

    arm: str
    right: int
    questions: int
    low: float
    high: float
    yes: int
    """How often it answered y, right or not."""


class QuestionScores(msgspec.Struct, frozen=True):
    """The results of one model."""

    model: str
    arms: tuple[ArmScore, ...]
    better: int
    """Questions that the passage answered right and the shuffled one wrong."""
    worse: int
    p: float
    """Two-sided sign test of better against worse."""
    list: tuple[AnsweredQuestion, ...]


def questions_of(games: Sequence[ObservedGame]) -> list[YesNoQuestion]:
    """Return the questions whose right answer follows from the rules, a few of the same words per game."""
    return [question for each in games for question in _of_game(each)]


def _of_game(each: ObservedGame) -> list[YesNoQuestion]:
    signals, right_answer = each.kind.hints.signals, each.kind.retrospect.right_answer
    done: dict[str, int] = {}
    found: list[YesNoQuestion] = []
    for moment, logged in zip(each.moments, each.game.last, strict=False):
        done.update(signals.deeds(moment))
        right = right_answer(moment, done)
        said = signals.message(moment).strip()
        alike = [question for question in found if question.question == said]
        if not right or len(alike) == _ALIKE:
            continue
        query = signals.concerns(moment, done)[0].query
        found.append(
            YesNoQuestion(
                each.game.file,
                logged.step,
                said,
                right,
                query,
                _situation(moment),
                each.kind.title,
            )
        )
    return found


def _situation(moment: Observation) -> str:
    """What was seen, without the map's empty lines and the message, which is the question."""
    parts = ((part.name, part.text) for part in moment.parts if part.name != "message")
    texts = (f"{name}:\n{_lines(text)}" for name, text in parts)
    return "\n\n".join(texts)


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


async def ask_all(
    asked: Sequence[YesNoQuestion], model: Model, found: RecordedSearches, done: Callable[[int], None]
) -> list[AnsweredQuestion]:
    """Ask every question in every arm; `done` is called after each answer."""
    passages = [(await found.search(each.query, 1))[0] for each in asked]
    others = [_other(place, asked, passages) for place in range(len(asked))]
    answered = []
    for each, passage, other in zip(asked, passages, others, strict=True):
        shown: dict[Arm, Passage | None] = {"none": None, "shuffled": other, "passage": passage}
        answers = {}
        for arm in ARMS:
            answers[arm] = await _answer(model, each, shown[arm])
            done(1)
        answered.append(
            AnsweredQuestion(each.file, each.step, each.question, each.right, passage.id, other.id, answers)
        )
    return answered


def _other(place: int, asked: Sequence[YesNoQuestion], passages: Sequence[Passage]) -> Passage:
    """A passage that was found for another query: the next one that differs, half the list away."""
    count = len(asked)
    order = ((place + count // 2 + step) % count for step in range(count))
    different = (at for at in order if passages[at].id != passages[place].id)
    return passages[next(different, place)]


async def _answer(model: Model, asked: YesNoQuestion, passage: Passage | None) -> str:
    reference = _REFERENCE.format(title=passage.title, text=passage.text) if passage else ""
    text = _PROMPT.format(
        game=asked.game, passage=reference, situation=asked.situation, question=asked.question
    )
    reply = await model.complete(Request((Message("user", text),), "other", YES_NO))
    return letter_of(reply.text)


def letter_of(text: str) -> str:
    """Return the answer's letter; reasoning may precede it. "" if it has none."""
    words = [word.strip(".,:;*\"'`()").lower() for word in text.split()]
    letters = [word[0] for word in words if word in ("y", "n", "yes", "no")]
    return letters[-1] if letters else ""


def scored(name: str, answered: Sequence[AnsweredQuestion]) -> QuestionScores:
    """Compute the figures of one model."""
    better = sum(_right(each, "passage") and not _right(each, "shuffled") for each in answered)
    worse = sum(_right(each, "shuffled") and not _right(each, "passage") for each in answered)
    return QuestionScores(
        name,
        tuple(_arm(arm, answered) for arm in ARMS),
        better,
        worse,
        sign_test(better, worse),
        tuple(answered),
    )


def _arm(arm: Arm, answered: Sequence[AnsweredQuestion]) -> ArmScore:
    right, count = sum(_right(each, arm) for each in answered), len(answered)
    low, high = wilson(right, count)
    return ArmScore(arm, right, count, low, high, sum(each.answers[arm] == "y" for each in answered))


def _right(each: AnsweredQuestion, arm: Arm) -> bool:
    return each.answers[arm] == each.right


def sign_test(better: int, worse: int) -> float:
    """Two-sided p-value that as many or more of the differing pairs lie on one side by chance."""
    count = better + worse
    tail = sum(comb(count, place) for place in range(max(better, worse), count + 1))
    return float(min(1.0, 2 * tail / 2**count))
