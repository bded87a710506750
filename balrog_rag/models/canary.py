"""Fixed questions at temperature 0, by whose answers a hosted model that has changed can be recognised."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.behaviour import Model
from balrog_rag.contracts.data import Message, Request, digest

LONGEST = 64
"""Tokens of an answer: enough for a model's habits to show."""
PROMPTS = (
    "Count from 1 to 10 in words, separated by commas.",
    "What is 17 times 24? Answer with the number only.",
    "Name the capital of Australia in one word.",
    "Write the word 'balance' backwards.",
    "Complete the sentence in at most ten words: The old bridge was",
    "List three colours of a rainbow, one per line.",
    "Translate into French: The door is locked.",
    "Which is heavier, a kilogram of iron or a kilogram of feathers? Answer in one sentence.",
    "Write a haiku about snow.",
    "Give the chemical formula of water.",
    "Sort these words alphabetically: pear, apple, fig, plum.",
    "What comes next: 2, 3, 5, 7, 11? Answer with the number only.",
    "In one sentence, why is the sky blue?",
    "Write a JSON object with the keys a and b and the values 1 and 2.",
    "A newt bites. You have 3 of 14 hit points and stand on stairs. Answer with one word: fight or flee?",
    "How many letters are in the word 'labyrinth'? Answer with the number only.",
    "Name a synonym of 'quick'.",
    "Write one line of Python that prints the numbers 0 to 4.",
    "True or false: the Moon is larger than the Earth.",
    "Invent a name for a small dragon. Answer with the name only.",
)


class Canary(msgspec.Struct, frozen=True):
    """The answers of one model to these questions, as digests."""

    model: str
    answers: tuple[str, ...]
    served: tuple[str, ...] = ()
    """The model ids that the server returned."""
    fingerprints: tuple[str, ...] = ()
    asked: str = ""
    """When, as a date and time in UTC."""

    @property
    def digest(self) -> str:
        """Digest of all answers."""
        return digest("\n".join(self.answers))


def settings(config: ModelConfig) -> ModelConfig:
    """Return the settings with which a model is asked: at temperature 0, with short answers."""
    return replace(config, temperature=0.0, max_tokens=LONGEST)


async def ask(model: Model, name: str, asked: str) -> Canary:
    """Ask the questions, each once."""
    questions = [Request((Message("user", prompt),), "other") for prompt in PROMPTS]
    replies = await asyncio.gather(*map(model.complete, questions))
    return Canary(
        name,
        tuple(digest(reply.text.strip()) for reply in replies),
        _each(reply.model for reply in replies),
        _each(reply.fingerprint for reply in replies),
        asked,
    )


def _each(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))
