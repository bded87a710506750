"""Mix exported samples of several tasks into one file, the same number of each task.

    python examples/mix_samples.py --out mix.jsonl --seed 26 --longest 6500 \\
        --take babyai.jsonl 120 babyai/ \\
        --take baba.jsonl 11 babaisai/env/goto_win,babaisai/env/two_room-goto_win

Each `--take` names a file of `balrog-rag export --to sft`, how many samples to draw of each task, and what
the names of its tasks begin with. The same files, seed and options give the same mix.
"""

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line and write the mix."""
    options = read_options(words)
    chosen = random.Random(options.seed)
    mixed: list[str] = []
    for path, count, tasks in options.take:
        found = by_task(Path(path), tuple(tasks.split(",")), options.longest)
        if not found:
            raise SystemExit(
                f"{path}: no sample of a task that begins with {tasks}; see its `episode` fields"
            )
        for task, lines in found.items():
            drawn = chosen.sample(lines, min(int(count), len(lines)))
            mixed += drawn
            print(f"{task}: {len(drawn)} of {len(lines)}")
    options.out.write_text("".join(mixed), encoding="utf-8")
    print(f"{len(mixed)} samples in {options.out}")


def read_options(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--take", nargs=3, action="append", required=True, metavar=("FILE", "COUNT", "TASKS"),
        help="draw so many samples of each task in a file that begins with one of TASKS, separated by commas",
    )  # fmt: skip
    parser.add_argument("--longest", type=int, default=10**9, help="leave out longer lines, in characters")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(words)


def by_task(path: Path, tasks: tuple[str, ...], longest: int) -> dict[str, list[str]]:
    """Return the lines of a file by task."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in samples(path):
        task = json.loads(line)["episode"].rsplit("/", 1)[0]
        if task.startswith(tasks) and len(line) <= longest:
            found[task].append(line)
    return found


def samples(path: Path) -> Iterator[str]:
    """Return the lines that are not empty."""
    with path.open(encoding="utf-8", newline="\n") as file:
        yield from (line for line in file if line.strip())


if __name__ == "__main__":
    main()
