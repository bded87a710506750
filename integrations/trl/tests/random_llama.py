"""A Llama of random weights and a tokenizer of bytes, as a GGUF file."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np

LAYERS, WIDTH, INNER, HEADS, SHARED_HEADS, CONTEXT = 2, 48, 96, 6, 2, 4096
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CONTROL, NORMAL = 3, 1


def write_random_llama(path: Path, seed: int = 0) -> None:
    """Write the file."""
    draw, writer = np.random.default_rng(seed), gguf.GGUFWriter(path, "llama")
    letters = byte_letters()
    merges = ["t h", "i n", "e r"]
    tokens = [*SPECIAL, *letters, *(merge.replace(" ", "") for merge in merges)]
    writer.add_name("random")
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([CONTROL] * len(SPECIAL) + [NORMAL] * (len(tokens) - len(SPECIAL)))
    writer.add_token_merges(merges)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for name, shape in shapes(len(tokens)).items():
        values = np.ones(shape) if name.endswith("norm.weight") else draw.normal(0, 0.3, shape)
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def shapes(tokens: int) -> dict[str, tuple[int, ...]]:
    """Return the weights by name; the head shares those of the tokens."""
    shared = WIDTH // HEADS * SHARED_HEADS
    layer: dict[str, tuple[int, ...]] = {
        "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,),
        "attn_q": (WIDTH, WIDTH), "attn_k": (shared, WIDTH), "attn_v": (shared, WIDTH),
        "attn_output": (WIDTH, WIDTH),
        "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
    }  # fmt: skip
    found: dict[str, Any] = {"token_embd.weight": (tokens, WIDTH), "output_norm.weight": (WIDTH,)}
    for number in range(LAYERS):
        found |= {f"blk.{number}.{name}.weight": shape for name, shape in layer.items()}
    return found


def byte_letters() -> list[str]:
    """Return the letter that GPT-2's vocabulary has for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [each for each in range(256) if each not in plain]
    return [chr(each) for each in plain] + [chr(256 + place) for place in range(len(rest))]
