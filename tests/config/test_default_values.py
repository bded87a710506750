"""The values that `--help` reads from conf/ are those that Hydra composes."""

import subprocess
import sys
from dataclasses import asdict

from balrog_rag.cli.help import text
from balrog_rag.config.compose import compose
from balrog_rag.config.default_values import default_values

HELP = """
import sys
from balrog_rag.cli.main import main
main(["--help"])
print(sorted({"hydra", "omegaconf", "numpy", "rich", "asyncio", "nle"} & set(sys.modules)))
"""


def test_they_are_the_values_of_a_run_without_overrides() -> None:
    read, composed = default_values(), compose([])
    composed.knowledge.options["hybrid"] = read.knowledge.options["hybrid"]  # refers to options of others
    assert asdict(read) == asdict(composed)


def test_help_says_the_same_in_both_ways() -> None:
    assert text([]) == text(["run.seed=0"])
    assert "agent.answers                      text " in text([])


def test_help_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
