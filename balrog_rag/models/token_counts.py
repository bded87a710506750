"""Estimated token counts: a fixed rule, the same on every machine and for every model.

The count decides what is trimmed, and is reported if the provider sends no figure. Compared with
GPT-4o's tokenizer it is 7 % high on screens with a map, 24 % high on prose, 27 % low on maps alone.
"""

from collections.abc import Iterable, Sequence

from balrog_rag.contracts.data import Message
from balrog_rag.contracts.tool_calls import calls_text
from balrog_rag.util.tokens import CHARACTERS_PER_TOKEN, TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE
from balrog_rag.util.tokens import count_message as count_message
from balrog_rag.util.tokens import count_text as count_text


def most_tokens(messages: Sequence[Message]) -> float:
    """Return an upper bound of the count of these messages without reading their texts."""
    characters = sum([len(message.text) + len(message.reasoning) for message in messages])
    characters += sum([len(each.native) or len(calls_text(each.calls)) for each in messages if each.calls])
    images = sum([len(message.images) for message in messages])
    counted_up = (TOKENS_PER_MESSAGE + 2) * len(messages)
    return characters / CHARACTERS_PER_TOKEN + counted_up + TOKENS_PER_IMAGE * images


def count_messages(messages: Iterable[Message]) -> int:
    """Estimate the tokens of a prompt."""
    return sum(map(count_message, messages))
