"""The embedded model: a GGUF file run by llama.cpp in this process, answers constrained by a grammar."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, Reply, Request, Usage
from balrog_rag.contracts.errors import ContextTooLong, ModelUnavailable
from balrog_rag.models import llama, tool_turns, wire
from balrog_rag.models.backend_options import read_options
from balrog_rag.models.fit import shorter
from balrog_rag.models.grammar import grammar
from balrog_rag.models.pace import Pace
from balrog_rag.models.prices import Prices
from balrog_rag.models.weights import weights
from balrog_rag.util.stopping import in_thread


class LocalOptions(msgspec.Struct, frozen=True):
    """The options that conf/model/local.yaml may set."""

    slots: int
    threads: int
    slot_context: int


class TooLong(Exception):
    """The prompt does not fit in a slot."""


class LocalModel:
    """A small model on this machine: free, without a key and without a network."""

    requires: ClassVar[Mapping[str, str]] = {llama.LIBRARY: "local"}

    def __init__(self, config: ModelConfig) -> None:
        self.name = config.name
        self._config = config
        self._options = read_options(config.options, LocalOptions)
        self._prices = Prices.of_config(config)
        self.pace = Pace(self._options.slots, setting="")
        self._server: Any = None
        self._starting: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Fetch the weights if needed and load them; otherwise the first call does."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        # Shielded: a cancelled caller must not cancel the loading that others wait for.
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        options = self._options
        # First, so that a library that cannot be imported is reported before 93 MB are downloaded.
        await asyncio.to_thread(llama.library)
        path = await asyncio.to_thread(weights, self.name)
        self._server = await asyncio.to_thread(
            llama.start, path, slots=options.slots, slot_context=options.slot_context, threads=options.threads
        )

    async def complete(self, request: Request) -> Reply:
        """Answer; a prompt that does not fit in a slot loses its oldest turns."""
        if self._server is None:
            await self.warm()
        form = request.answer if self._config.constrain and _constrains(request.answer) else None
        messages, trimmed = tool_turns.as_text(request.messages), 0
        request = msgspec.structs.replace(request, messages=messages)
        while True:
            try:
                reply = await self._ask(messages, form)
                return msgspec.structs.replace(reply, trimmed=trimmed) if trimmed else reply
            except TooLong as error:
                less = shorter(request.messages, messages)
                if less is None:
                    raise ContextTooLong(
                        f"model {self.name}: {error}; raise model.options.slot_context, "
                        "or show less with a shorter layout or fewer passages"
                    ) from error
                messages, trimmed = less

    async def _ask(self, messages: tuple[Message, ...], form: AnswerFormat | None) -> Reply:
        body = self._body(messages, form)
        # Without model.timeout, which is for networks: a slow machine would look like a lost connection.
        async with self.pace.slot(0):
            begun = time.monotonic()
            response = await in_thread(partial(self._server.handle_chat_completions, body))
        if "error" in response:
            raise _failure(self.name, response["error"])
        return self._reply(response, form, time.monotonic() - begun)

    def _body(self, messages: tuple[Message, ...], form: AnswerFormat | None) -> dict[str, Any]:
        config = self._config
        said = {
            "temperature": config.temperature,
            "max_tokens": config.max_tokens,
            "stop": config.stop or None,
            "seed": config.seed,
            **config.extra_body,
        }
        turns = wire.outgoing(messages, fuse=config.fuse_roles, mark=False)
        body = {name: value for name, value in said.items() if value is not None}
        body |= {"messages": turns, "cache_prompt": True}
        if form is not None:
            body["grammar"] = grammar(form)
            if not form.reasoning and form.before:
                # Prefilled: the fixed start of the answer is read with the prompt, faster than generated.
                turns.append({"role": "assistant", "content": form.before})
        return body

    def _reply(self, response: dict[str, Any], form: AnswerFormat | None, latency: float) -> Reply:
        choice, counted = response["choices"][0], response.get("usage", {})
        usage = Usage(
            counted.get("prompt_tokens", 0),
            counted.get("completion_tokens", 0),
            counted.get("prompt_tokens_details", {}).get("cached_tokens", 0),
        )
        text = choice["message"].get("content") or ""
        # A reasoning answer contains its own marks; otherwise the prefilled start must be added back.
        if form is not None and not form.reasoning and not form.tools:
            text = f"{form.before}{text.removeprefix(form.before)}{form.after}"
        reasoning = choice["message"].get("reasoning_content") or ""
        called = tool_turns.written_call(text) if form is not None and form.tools else None
        return Reply(
            "" if called else text,
            calls=(called,) if called else (),
            reasoning=reasoning,
            reasoning_in="reasoning_content" if reasoning else "",
            finish=choice.get("finish_reason") or "stop",
            usage=usage,
            cost=self._prices.cost(usage),
            latency=round(latency, 4),
            model=self.name,
        )

    async def close(self) -> None:
        """Free the memory; a cancelled call keeps it until the call ends."""
        if self._starting is not None:
            # A thread cannot be cancelled: without waiting it would load weights after the close.
            await asyncio.wait([self._starting])
        self._server = None


def _constrains(form: AnswerFormat | None) -> bool:
    return form is not None and bool(form.choices or form.before or form.tools)


def _failure(name: str, error: dict[str, Any]) -> Exception:
    text = str(error.get("message", error))
    if error.get("type") == "exceed_context_size_error" or "context" in text:
        return TooLong(text)
    return ModelUnavailable(f"model {name}: llama.cpp failed: {text}")
