"""A stand-in for a model: its answers follow from the question alone, in whatever order they are asked."""

import asyncio
from itertools import count
from typing import Literal

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Reply, Request, Usage
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.tool_calls import calls_text
from balrog_rag.models import canned_answers
from balrog_rag.models.backend_options import read_options
from balrog_rag.models.prices import Prices
from balrog_rag.models.token_counts import count_messages, count_text


class ScriptedOptions(msgspec.Struct, frozen=True):
    """The options that conf/model/scripted.yaml may set."""

    answers: tuple[str, ...]
    order: Literal["digest", "sequence"]
    seed: int
    latency: float


class ScriptedModel:
    """Answers from a list, or with an allowed action in the requested format."""

    def __init__(self, config: ModelConfig) -> None:
        self.name = config.name
        self._options = read_options(config.options, ScriptedOptions)
        if self._options.order == "sequence" and not self._options.answers:
            raise ConfigError("model.options.order=sequence: needs model.options.answers")
        self._prices = Prices.of_config(config)
        self._priced = None not in (config.price.input, config.price.output)
        self._turn = count()

    def price_known(self) -> bool:
        """Whether the configuration gives it both prices."""
        return self._priced

    async def complete(self, request: Request) -> Reply:
        """Return the answer to this request, after the configured latency."""
        if self._options.latency:
            await asyncio.sleep(self._options.latency)
        tools = request.answer.tools if request.answer is not None else ()
        made = bool(tools) and not self._options.answers
        calls = (canned_answers.tool_call(request.digest, tools, self._options.seed),) if made else ()
        text = canned_answers.THOUGHT if calls else self._text(request)
        usage = Usage(count_messages(request.messages), count_text(f"{text}{calls_text(calls)}"))
        return Reply(
            text,
            calls=calls,
            usage=usage,
            cost=self._prices.cost(usage),
            latency=self._options.latency,
            model=self.name,
        )

    def _text(self, request: Request) -> str:
        options = self._options
        if options.order == "sequence":
            return options.answers[next(self._turn) % len(options.answers)]
        if options.answers:
            return canned_answers.pick(request.digest, options.answers, options.seed)
        if request.answer is not None and (request.answer.choices or request.answer.thoughts):
            return canned_answers.compose(request.digest, request.answer, options.seed)
        if request.purpose == "act":
            return canned_answers.for_prompt(
                tuple(message.text for message in request.messages), options.seed
            )
        return canned_answers.for_purpose(request.purpose)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""
