"""The circle of training, step by step: bots' games, a mix of them, training, the model's games, the verdict.

    python benchmarks/training.py data --out FOLDER
    python benchmarks/training.py train --out FOLDER --model PACKAGED.gguf
    python benchmarks/training.py play before --out FOLDER --model PACKAGED.gguf [OVERRIDE ...]
    python benchmarks/training.py play after --out FOLDER --model FOLDER/tuned/games-523.gguf [OVERRIDE ...]
    python benchmarks/training.py verdict before after --out FOLDER

`train` needs torch, transformers, gguf and accelerate. The models play fifty games of each BabyAI task on
seeds that are not among those of the data; every step continues what was interrupted.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from balrog_rag.cli.verbs import main as balrog_rag

TOP = Path(__file__).parents[1]
DATA = {
    "babyai": ["env=babyai", "env.episodes=320", "run.seed=100"],
    "baba": ["env=babaisai", "env.episodes=20", "run.seed=100"],
}
MIX = ["--seed", "26", "--longest", "6499"]
TAKEN = {"babyai": ("120", "babyai/"), "baba": ("11", "babaisai/env/goto_win,babaisai/env/two_room-goto_win")}
TRAINING = ["--rate", "2e-4", "--answers", "20", "--threads", "1", "--minutes", "66"]
WRITTEN = ["--at", "75", "150", "300", "450"]
ANSWERS = ["model.constrain=false", "model.temperature=0", "model.max_tokens=6", "model.context=4000"]
ONE_AT_A_TIME = [
    *("model.concurrency=1", "model.options.slots=1", "model.options.threads=1"),
    *("runner.concurrency=1", "runner.workers=1", "runner.log=plain"),
]


def run(*words: str) -> None:
    """Run a command of this project, or end."""
    if code := balrog_rag(list(words)):
        raise SystemExit(code)


def data(out: Path) -> None:
    """Play the bots, export their games and mix them."""
    mix = [sys.executable, str(TOP / "examples/mix_samples.py"), "--out", str(out / "mix.jsonl"), *MIX]
    for name, games in DATA.items():
        exported = out / f"{name}.jsonl"
        run("run", "agent=scripted", *games, f"run.folder={out}", f"run.name=bot_{name}")
        words = ["--to", "sft", "--outcome", "solved", "--out", str(exported)]
        run("export", str(out / f"bot_{name}"), *words, "agent=naive_append", "model.context=100000")
        mix += ["--take", str(exported), *TAKEN[name]]
    subprocess.run(mix, check=True)


def train(out: Path, model: Path) -> None:
    """Train on the mix, and write models for a learning curve."""
    script = [sys.executable, str(TOP / "examples/finetune_small_model.py"), str(out / "mix.jsonl")]
    words = ["--model", str(model), "--out", str(out / "tuned"), *TRAINING, *WRITTEN]
    subprocess.run([*script, *words], check=True)


def play(name: str, out: Path, model: Path, overrides: list[str]) -> None:
    """Play the BabyAI tasks with a model, or continue."""
    games = ["env=babyai", "env.episodes=50", "run.seed=41", "limits.steps=20"]
    player = ["agent=naive_append", "model=local", f"model.name={model}", *ANSWERS, *ONE_AT_A_TIME]
    run("run", *games, *player, f"run.folder={out}", f"run.name={name}", *overrides)


def main() -> None:
    """Run one step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("data", "train", "play", "verdict"))
    parser.add_argument("words", nargs="*", help="names of runs, and overrides")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", type=Path, help="a GGUF file")
    given = parser.parse_intermixed_args()
    if given.step == "data":
        data(given.out)
    elif given.step == "train":
        train(given.out, given.model)
    elif given.step == "play":
        play(given.words[0], given.out, given.model, given.words[1:])
    else:
        run("compare", *(str(given.out / name) for name in given.words))


if __name__ == "__main__":
    main()
