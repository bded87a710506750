"""Two steps of GRPO on BabyAI, on a CPU, with a small Llama of random weights.

    python integrations/trl/examples/grpo_random_llama.py --steps 2 --output trained

It shows that everything fits together, not that a model learns: nothing is downloaded. The tokenizer has a
token per byte and one per action, which is the whole call of the tool. Sampling is restricted to the
actions and the end of a message, so that even random weights play. A real run replaces `small_model` and
`small_tokenizer` by a model that can call tools.
"""

import argparse
from collections.abc import Sequence

from balrog_trl import BalrogGame
from datasets import Dataset
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

import balrog_rag

TASK = "babyai/BabyAI-MixedTrainLocal-v0/goto"
END = "<|im_end|>"


def calls(task: str) -> list[str]:
    """Return the call of the tool for each action of a task."""
    with balrog_rag.make(task) as game:
        names = list(game.view.actions)
    return [
        f'<tool_call>\n{{"name": "act", "arguments": {{"action": "{name}"}}}}\n</tool_call>' for name in names
    ]


def small_tokenizer(whole: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer with a token per byte, and one for each text of `whole`."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: place for place, letter in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token=END, pad_token="<|pad|>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in whole])
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


def small_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Return a Llama of about 100,000 random weights."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=8192,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)


def rows(games: int) -> Dataset:
    """Return one row per game; the columns beside the prompt are arguments of BalrogGame.reset.

    All are one game that random play wins in about two of three attempts, so that groups have different
    rewards. A real run counts `index` upwards.
    """
    prompt = [{"role": "user", "content": "Play this game with the tool.\n\n"}]
    return Dataset.from_list(
        [
            {"prompt": prompt, "task": TASK, "split": "train", "index": 4, "max_steps": 16}
            for _ in range(games)
        ]
    )


def trainer(steps: int, output: str) -> GRPOTrainer:
    """Return the trainer: groups of eight rollouts of one game."""
    whole = calls(TASK)
    tokenizer = small_tokenizer(whole)
    allowed = {*tokenizer.convert_tokens_to_ids(list(whole)), tokenizer.eos_token_id}
    arguments = GRPOConfig(
        output_dir=output,
        use_cpu=True,
        max_steps=steps,
        per_device_train_batch_size=8,
        num_generations=8,
        max_completion_length=1500,
        max_tool_calling_iterations=4,
        generation_kwargs={"suppress_tokens": [n for n in range(len(tokenizer)) if n not in allowed]},
        learning_rate=1e-3,
        weight_decay=0.01,
        bf16=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        seed=1,
    )
    return GRPOTrainer(
        model=small_model(tokenizer),
        args=arguments,
        train_dataset=rows(steps),
        processing_class=tokenizer,
        environment_factory=BalrogGame,
    )


def main(words: Sequence[str] | None = None) -> GRPOTrainer:
    """Train, and print what TRL logs of each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--output", default="trained")
    options = parser.parse_args(words)
    grpo = trainer(options.steps, options.output)
    grpo.train()
    return grpo


if __name__ == "__main__":
    main()
