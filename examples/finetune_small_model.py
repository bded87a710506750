"""Fine-tune the embedded model on exported dialogues, and write it as a GGUF file that `model=local` plays.

    balrog-rag export results/bot --to sft --out sft.jsonl agent=naive_append
    python examples/finetune_small_model.py sft.jsonl --out tuned --minutes 30
    balrog-rag run agent=naive_append model=local model.name=tuned/games-1500.gguf env=babyai

Needs torch, transformers, gguf and accelerate. Each sample is read once, in a shuffled order; the loss counts
the answers with weight 1 only. Samples that begin alike (with the instruction of one environment) make up an
update, so that the tokens they have in common are computed once. A file is written after each number of
samples in `--at`, and at the end.
"""

import argparse
import contextlib
import json
import random
import time
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

WARM_UPDATES, LONGEST_NORM, ALIKE = 20, 1.0, 32
"""Updates until the full rate; largest norm of a gradient; tokens by which samples are grouped."""


class Tokens(NamedTuple):
    """A dialogue in tokens, and the places whose next token is learned."""

    ids: torch.Tensor
    learned: torch.Tensor
    answers: int


def main() -> None:
    """Train until the samples or the minutes are used up."""
    options = read_options()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    source = options.model
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    model = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    lines = [line for path in options.samples for line in path.read_bytes().splitlines()]
    random.Random(options.seed).shuffle(lines)
    options.out.mkdir(parents=True, exist_ok=True)
    learner = Learner(model, options.layers, options.rate, bfloat16=faster_in_bfloat16())
    groups: dict[tuple[int, ...], list[Tokens]] = {}
    begun, games, written = time.monotonic(), 0, -1
    for games, line in enumerate(lines, 1):
        sample = in_tokens(json.loads(line)["messages"], tokenizer)
        group = groups.setdefault(tuple(sample.ids[:ALIKE].tolist()), [])
        group.append(sample)
        if sum(each.answers for each in group) >= options.answers:
            learner.learn(group)
            group.clear()
        if games % 25 == 0:
            print(f"{games} games, {learner.report()}, {time.monotonic() - begun:.0f} s", flush=True)
        if games in options.at:
            write(model, source, options.out / f"games-{games}.gguf")
            written = games
        if time.monotonic() - begun > 60 * options.minutes:
            break
    if written != games:
        write(model, source, options.out / f"games-{games}.gguf")
    print(f"{games} games, {learner.report()}, processor {time.process_time():.0f} s", flush=True)


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", type=Path, nargs="+", help="files of `balrog-rag export --to sft`")
    parser.add_argument("--out", type=Path, required=True, help="folder of the GGUF files")
    parser.add_argument("--model", type=Path, required=True, help="GGUF file to start from")
    parser.add_argument("--minutes", type=float, default=30, help="most minutes (default: 30)")
    parser.add_argument("--layers", type=int, default=15, help="train the last N layers (default: 15)")
    parser.add_argument("--answers", type=int, default=24, help="least answers per update (default: 24)")
    parser.add_argument("--rate", type=float, default=3e-4, help="learning rate (default: 3e-4)")
    parser.add_argument(
        "--at", type=int, nargs="*", default=[], help="also write after these numbers of samples"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def faster_in_bfloat16() -> bool:
    """Whether this processor multiplies in bfloat16 faster: twice with AMX, fifty times slower without it."""
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = torch.ones(512, 576, dtype=dtype), torch.ones(576, 1536, dtype=dtype)
        _ = left @ right  # the first multiplication sets things up
        begun = time.thread_time()
        _ = left @ right
        seconds[dtype] = time.thread_time() - begun
    return seconds[torch.bfloat16] < seconds[torch.float32]


def in_tokens(messages: list[dict[str, Any]], tokenizer: Any) -> Tokens:
    """Encode a dialogue as the model's template writes it; answers with weight 1 are learned."""
    ids: list[int] = []
    learned: list[int] = []
    for message in messages:
        ids += tokenizer.encode(f"<|im_start|>{message['role']}\n", add_special_tokens=False)
        said = tokenizer.encode(f"{message['content']}<|im_end|>", add_special_tokens=False)
        if message.get("weight"):
            learned += range(len(ids) - 1, len(ids) - 1 + len(said))
        ids += said + tokenizer.encode("\n", add_special_tokens=False)
    answers = sum(bool(message.get("weight")) for message in messages)
    return Tokens(torch.tensor(ids), torch.tensor(learned), answers)


class Learner:
    """Trains the last layers, an update for each group of dialogues."""

    def __init__(self, model: Any, layers: int, rate: float, *, bfloat16: bool) -> None:
        self._model, self._body, self._rate, self._bfloat16 = model, model.model, rate, bfloat16
        model.requires_grad_(False)
        for layer in self._body.layers[-layers:]:
            layer.requires_grad_(True)
        self._weights = [weight for weight in model.parameters() if weight.requires_grad]
        self._optimizer = torch.optim.AdamW(self._weights, lr=rate, weight_decay=0.0)
        self._updates = self._tokens = 0
        self._losses: list[float] = []

    def learn(self, group: Sequence[Tokens]) -> None:
        """Update the weights with the mean loss of a group's answers."""
        count = sum(len(sample.learned) for sample in group)
        with torch.autocast("cpu", torch.bfloat16) if self._bfloat16 else contextlib.nullcontext():
            common = length_in_common(group)
            begin = DynamicCache()
            self._body(group[0].ids[None, :common], past_key_values=begin)
            self._tokens += common
            losses = [self._loss(sample, common, begin) for sample in group]
        (torch.stack(losses).sum() / count).backward()
        torch.nn.utils.clip_grad_norm_(self._weights, LONGEST_NORM)
        self._updates += 1
        for parameters in self._optimizer.param_groups:
            parameters["lr"] = self._rate * min(1.0, self._updates / WARM_UPDATES)
        self._optimizer.step()
        self._optimizer.zero_grad()

    def _loss(self, sample: Tokens, common: int, begin: DynamicCache) -> torch.Tensor:
        """Return the summed loss of a dialogue whose first tokens have been computed."""
        cache = DynamicCache([(layer.keys, layer.values) for layer in begin.layers])
        seen = self._body(sample.ids[None, common:], past_key_values=cache).last_hidden_state[0]
        # The head has a fifth of all weights: only the few places that are learned are projected.
        logits = self._model.lm_head(seen[sample.learned - common]).float()
        loss = torch.nn.functional.cross_entropy(logits, sample.ids[sample.learned + 1], reduction="sum")
        self._tokens += len(sample.ids) - common
        self._losses.append(loss.item() / max(len(sample.learned), 1))
        return loss

    def report(self) -> str:
        """Return counts, and the mean loss of the last dialogues."""
        last = self._losses[-25:]
        return f"{self._tokens} tokens, {self._updates} updates, loss {sum(last) / max(len(last), 1):.4f}"


def length_in_common(group: Sequence[Tokens]) -> int:
    """Return how many tokens all dialogues begin with, before the first that is learned."""
    most = min(int(sample.learned[0]) for sample in group if len(sample.learned))
    columns = zip(*(sample.ids[:most].tolist() for sample in group), strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def write(model: Any, source: Path, path: Path) -> None:
    """Write the weights as a GGUF file with the tokenizer and settings of another."""
    read = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(path, read.get_field("general.architecture").contents())
    for name, field in read.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), kind, sub_type=inner)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for name, values in tensors(model):
        # Vectors stay exact, as llama.cpp expects them.
        writer.add_tensor(name, (values.half() if values.dim() > 1 else values).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(f"wrote {path}", flush=True)


def tensors(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Return the weights by their names in a GGUF file, in its order of rotary dimensions."""
    config = model.config
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = weight.detach().float().contiguous()
        count = heads.get(name.split(".")[-2])
        if count:
            rows, columns = values.shape
            paired = values.view(count, 2, rows // count // 2, columns)
            values = paired.transpose(1, 2).reshape(rows, columns).contiguous()
        yield names.get_name(name, try_suffixes=(".weight",)), values


if __name__ == "__main__":
    main()
