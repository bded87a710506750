"""`balrog-rag doctor`: what is installed and found here, and what a run would lack."""

import os
import platform
import shutil
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from balrog_rag import __version__
from balrog_rag.cli.command_line import Parser, called, ended
from balrog_rag.util.fetch import cache_folder
from balrog_rag.util.terminal_safe import terminal_safe

DESCRIPTION = """Print what is installed and found on this machine, and everything that a run would lack.

  balrog-rag doctor                       the default run
  balrog-rag doctor env=balrog model=openai    any other run, by the overrides it would be started with

Exits with 0 if that run can be played, with 1 otherwise. Keys and extras that it does not need are notes.
Nothing is downloaded, indexed or written."""
PACKAGES = ("nle", "minihack", "faiss-cpu", "litellm", "hydra-core", "pandas", "matplotlib", "numpy")
EXTRAS = {
    "local": "xllamacpp",
    "sentence-transformers": "sentence_transformers",
    "textworld": "textworld",
    "ray": "ray",
    "slurm": "submitit",
    "parquet": "pyarrow",
    "learn": "torch",
    "atif": "atif",
    "autoascend": "nethackers",
    "wiki": "mwparserfromhell",
    "mcp": "mcp",
    "s3": "s3fs",
    "wandb": "wandb",
    "mlflow": "mlflow",
    "otel": "opentelemetry",
}
"""Each extra and a module that it installs."""
_GIGABYTE = 1 << 30


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(arguments)
    return ended(lambda: doctor(options.overrides))


def parser() -> ArgumentParser:
    """Build the argument parser."""
    made = Parser(prog=called("doctor"), description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter)
    made.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="overrides of the run to check")
    return made


def doctor(overrides: Sequence[str]) -> int:
    """Print the findings; returns the exit code."""
    from balrog_rag.config.compose import compose
    from balrog_rag.run.needs import unmet

    config = compose([*overrides])
    for title, lines in (
        ("machine", _machine()),
        ("packages", _packages()),
        ("extras", _extras()),
        ("keys", _keys()),
        ("files", _files()),
    ):
        print(f"{title}:")
        for line in lines:
            print(f"  {terminal_safe(line)}")
    run = " ".join(overrides) or "the default run"
    missing = unmet(config)
    print(f"{terminal_safe(run)}:")
    for line in missing:
        print(f"  missing  {terminal_safe(line)}")
    if not missing:
        print("  ok       everything it needs is here")
    return 1 if missing else 0


def _machine() -> Iterator[str]:
    yield f"balrog_rag {__version__}, Python {platform.python_version()} ({sys.executable})"
    yield f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{_memory()}"
    if platform.system() != "Linux":
        yield "note     only Linux is tested; NLE has no builds for Windows"


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return ""
    return f", {size / _GIGABYTE:.0f} GB of memory"


def _packages() -> Iterator[str]:
    for name in PACKAGES:
        try:
            yield f"ok       {name} {version(name)}"
        except PackageNotFoundError:
            yield f"missing  {name}: run make setup, or pip install balrog_rag"


def _extras() -> Iterator[str]:
    for extra, module in EXTRAS.items():
        if find_spec(module) is not None:
            yield f"ok       [{extra}]"
        else:
            yield f"note     [{extra}] is not installed; pip install 'balrog_rag[{extra}]'"


def _keys() -> Iterator[str]:
    """Which providers' keys are set; never a key itself."""
    from balrog_rag.models.api_keys import VARIABLES
    from balrog_rag.util import secrets

    secrets.load_env()
    found = [name for names in VARIABLES.values() for name in names if os.environ.get(name)]
    yield f"ok       {', '.join(found)}" if found else "note     no provider's key in the environment or .env"


def _files() -> Iterator[str]:
    from balrog_rag.knowledge.corpus import built_folder

    for what, folder in (
        ("working folder", Path.cwd()),
        ("cache", cache_folder()),
        ("indexes", built_folder()),
    ):
        place = next(each for each in (folder, *folder.parents) if each.exists())
        free = shutil.disk_usage(place).free / _GIGABYTE
        state = "ok      " if os.access(place, os.W_OK) else "note    "
        writable = "" if os.access(place, os.W_OK) else ", not writable"
        yield f"{state} {what}: {folder} ({free:.0f} GB free{writable})"
