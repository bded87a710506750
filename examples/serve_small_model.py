"""Serve a GGUF model of the Llama type on a CPU in OpenAI's protocol, for many games at once.

    python examples/serve_small_model.py tuned/games-600.gguf --port 8123
    export URL=http://127.0.0.1:8123/v1
    balrog-rag run agent=naive_append env=babyai model=vllm model.base_url=$URL model.name=hosted_vllm/tuned

Needs torch, transformers, gguf, accelerate and aiohttp. All prompts that wait are read in one bfloat16 batch.
Each slot keeps the keys and values of one dialogue: a prompt that continues it costs its new tokens only, and
one that begins like another dialogue copies that part.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import torch
from aiohttp import web
from torch.nn.functional import scaled_dot_product_attention, silu
from transformers import AutoModelForCausalLM, AutoTokenizer

CHUNK = 64
"""Tokens of a dialogue that are read at once: a new dialogue does not pad the others to its length."""
GATHER = 0.02
"""Seconds to wait for further prompts of a batch."""


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--slots", type=int, default=32, help="dialogues kept (default: 32)")
    parser.add_argument("--context", type=int, default=4096, help="tokens per dialogue (default: 4096)")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    service = Service(Engine(options.model, options.slots, options.context))
    app = web.Application()
    app.router.add_post("/v1/chat/completions", service.complete)
    app.cleanup_ctx.append(service.work)
    web.run_app(app, host="127.0.0.1", port=options.port)


class Prompt(NamedTuple):
    """What to answer, and how."""

    ids: list[int]
    most: int
    temperature: float


class Reply(NamedTuple):
    """An answer in tokens, and how many tokens of the prompt had been read before."""

    ids: list[int]
    kept: int


class Slot:
    """A dialogue whose keys and values are kept."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.ids: list[int] = []
        self.used = 0


class Engine:
    """Answers batches of prompts."""

    def __init__(self, path: Path, slots: int, context: int) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        self._network = Network(path, slots, context)
        self._slots = [Slot(place) for place in range(slots)]
        self.end = self.tokenizer.convert_tokens_to_ids("<|im_end|>")
        self._context, self._clock = context, count(1)

    def most(self) -> int:
        """Return how many prompts a batch can have."""
        return len(self._slots)

    def encode(self, messages: Sequence[dict[str, Any]]) -> list[int]:
        """Return a dialogue in tokens, up to where the answer begins."""
        ids: list[int] = []
        for message in messages:
            ids += self._encoded(f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n")
        return ids + list(self._encoded("<|im_start|>assistant\n"))

    @lru_cache(maxsize=100_000)  # noqa: B019  one engine lives as long as the process
    def _encoded(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    @torch.inference_mode()
    def answer(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Answer each prompt."""
        taken: set[int] = set()
        slots, kept = list[Slot](), list[int]()
        for prompt in prompts:
            slots.append(slot := self._place(prompt.ids, taken))
            kept.append(len(slot.ids))
            # A long beginning is read alone, so that others of this batch that begin alike can copy it.
            while len(prompt.ids) - len(slot.ids) > 2 * CHUNK:
                self._read([slot], [prompt.ids[len(slot.ids) :][:CHUNK]])
        seen = self._read(
            slots, [prompt.ids[len(slot.ids) :] for prompt, slot in zip(prompts, slots, strict=True)]
        )
        replies: list[list[int]] = [[] for _ in prompts]
        going = list(range(len(prompts)))
        while going:
            logits = self._network.logits(torch.stack([seen[place] for place in going])).float()
            for place, row in zip(going, logits, strict=True):
                replies[place].append(chosen(row, prompts[place].temperature))
            going = [
                place
                for place in going
                if replies[place][-1] != self.end and len(replies[place]) < prompts[place].most
            ]
            new = self._read([slots[place] for place in going], [replies[place][-1:] for place in going])
            seen = dict(zip(going, new.values(), strict=True))
        return [Reply(reply, before) for reply, before in zip(replies, kept, strict=True)]

    def _place(self, ids: list[int], taken: set[int]) -> Slot:
        """Return a slot that holds the longest beginning of a prompt which any slot holds."""
        like = max(self._slots, key=lambda slot: in_common(slot.ids, ids))
        # The last token is always read, since its output is needed.
        common = min(in_common(like.ids, ids), len(ids) - 1)
        slot = like
        if like.place in taken or common < len(like.ids) - 1:
            slot = min((slot for slot in self._slots if slot.place not in taken), key=lambda slot: slot.used)
            self._network.copy(like.place, slot.place, common)
        slot.ids = ids[:common]
        slot.used = next(self._clock)
        taken.add(slot.place)
        return slot

    def _read(self, slots: Sequence[Slot], new: Sequence[list[int]]) -> dict[int, torch.Tensor]:
        """Read new tokens of each slot; return the output at the last one, by index."""
        outputs: dict[int, torch.Tensor] = {}
        for begin in range(0, max(map(len, new), default=0), CHUNK):
            rows = [row for row, ids in enumerate(new) if len(ids) > begin]
            parts = [new[row][begin : begin + CHUNK] for row in rows]
            hidden = self._network.read(
                [slots[row].place for row in rows], [len(slots[row].ids) for row in rows], parts
            )
            for row, part, seen in zip(rows, parts, hidden, strict=True):
                slots[row].ids = slots[row].ids + part
                outputs[row] = seen[len(part) - 1]
        return dict(sorted(outputs.items()))


def chosen(logits: torch.Tensor, temperature: float) -> int:
    """Return the next token."""
    if temperature <= 0:
        return int(logits.argmax())
    return int(torch.multinomial((logits / temperature).softmax(0), 1))


def in_common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two dialogues begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class Network:
    """A Llama with a store of keys and values: per layer, slot, position, head and dimension."""

    def __init__(self, path: Path, slots: int, context: int) -> None:
        model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.bfloat16)
        self._body, self._head = model.model, model.lm_head
        config = model.config
        self._heads, self._dimension = (
            config.num_key_value_heads,
            config.hidden_size // config.num_attention_heads,
        )
        self._shared = config.num_attention_heads // self._heads
        shape = (config.num_hidden_layers, slots, context, self._heads, self._dimension)
        self._keys = torch.zeros(shape, dtype=torch.bfloat16)
        self._values = torch.zeros(shape, dtype=torch.bfloat16)
        self._context = context

    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the beginning of a slot."""
        if source != target and length:
            for kept in (self._keys, self._values):
                kept[:, target, :length] = kept[:, source, :length]

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next token."""
        return self._head(hidden)

    def read(self, slots: list[int], starts: list[int], new: list[list[int]]) -> torch.Tensor:
        """Read new tokens of some slots; return the outputs, padded to the longest."""
        longest = max(map(len, new))
        tokens = torch.tensor([ids + [0] * (longest - len(ids)) for ids in new])
        # What is written for padding lies behind a slot's tokens, and is written over later.
        places = (torch.tensor(starts)[:, None] + torch.arange(longest)).clamp(max=self._context - 1)
        length = int(places.max()) + 1
        visible = torch.arange(length) <= places[:, :, None]
        mask = visible.repeat(1, self._shared, 1)[:, None]
        hidden = self._body.embed_tokens(tokens)
        turned = self._body.rotary_emb(hidden, places)
        for number, layer in enumerate(self._body.layers):
            hidden = hidden + self._attend(
                number, layer, hidden, turned, (torch.tensor(slots), places, length), mask
            )
            inner, part = layer.post_attention_layernorm(hidden), layer.mlp
            hidden = hidden + part.down_proj(silu(part.gate_proj(inner)) * part.up_proj(inner))
        return self._body.norm(hidden)

    def _attend(
        self, number: int, layer: Any, hidden: Any, turned: Any, where: Any, mask: torch.Tensor
    ) -> Any:
        slots, places, length = where
        rows, new = places.shape
        part, inner = layer.self_attn, layer.input_layernorm(hidden)
        query = rotated(part.q_proj(inner).view(rows, new, -1, self._dimension), turned)
        key = rotated(part.k_proj(inner).view(rows, new, self._heads, self._dimension), turned)
        keys, values = self._keys[number], self._values[number]
        keys[slots[:, None], places] = key
        values[slots[:, None], places] = part.v_proj(inner).view(rows, new, self._heads, self._dimension)
        # The query heads that share a head of keys are laid one after another, so that nothing is copied.
        query = query.view(rows, new, self._heads, self._shared, self._dimension).permute(0, 2, 3, 1, 4)
        query = query.reshape(rows, self._heads, self._shared * new, self._dimension)
        seen = scaled_dot_product_attention(
            query,
            keys[slots, :length].transpose(1, 2),
            values[slots, :length].transpose(1, 2),
            attn_mask=mask,
        )
        seen = seen.view(rows, self._heads, self._shared, new, self._dimension).permute(0, 3, 1, 2, 4)
        return part.o_proj(seen.reshape(rows, new, -1))


def rotated(values: torch.Tensor, turned: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Apply the rotary positions."""
    cosine, sine = (each[:, :, None] for each in turned)
    first, second = values.chunk(2, dim=-1)
    return values * cosine + torch.cat((-second, first), dim=-1) * sine


class Service:
    """Gathers the requests that wait into batches."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: asyncio.Queue[tuple[Prompt, asyncio.Future[Reply]]] = asyncio.Queue()

    async def work(self, app: web.Application) -> Any:
        """Answer batches for as long as the server runs."""
        task = asyncio.create_task(self._answer_all())
        yield
        task.cancel()

    async def _answer_all(self) -> None:
        while True:
            batch = [await self._waiting.get()]
            await asyncio.sleep(GATHER)
            while len(batch) < self._engine.most() and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            prompts = [prompt for prompt, _ in batch]
            try:
                replies = await asyncio.to_thread(self._engine.answer, prompts)
            except Exception as error:  # noqa: BLE001  told to those who wait
                for _, future in batch:
                    future.set_exception(error)
                continue
            for (_, future), reply in zip(batch, replies, strict=True):
                if not future.done():
                    future.set_result(reply)

    async def complete(self, request: web.Request) -> web.Response:
        """Answer a chat completion."""
        asked = await request.json()
        ids = self._engine.encode(asked["messages"])
        most = int(asked.get("max_tokens") or asked.get("max_completion_tokens") or 64)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((Prompt(ids, most, float(asked.get("temperature", 1.0))), future))
        reply = await future
        text = self._engine.tokenizer.decode(reply.ids, skip_special_tokens=True)
        cut = reply.ids[-1] != self._engine.end
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "length" if cut else "stop",
        }
        usage = {
            "prompt_tokens": len(ids),
            "completion_tokens": len(reply.ids),
            "total_tokens": len(ids) + len(reply.ids),
            "prompt_tokens_details": {"cached_tokens": reply.kept},
        }
        named = {
            "id": "chat",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": asked.get("model", ""),
        }
        return web.json_response({**named, "choices": [choice], "usage": usage})


if __name__ == "__main__":
    main()
