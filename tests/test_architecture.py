"""The import rules of the packages, and other rules of the architecture."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "balrog_rag"
LOW = {"contracts", "util", "config", "episode"}
ALLOWED: dict[str, set[str]] = {
    "contracts": set(),
    "util": {"contracts"},
    "config": {"contracts", "util"},
    "episode": {"contracts", "util"},
    "code_actions": {"contracts"},
    "agents": {*LOW, "code_actions"},
    "envs": {*LOW},
    "workers": {*LOW},
    "models": {*LOW},
    "knowledge": {"contracts", "util", "config", "envs"},  # envs: only the builder of the embedded corpus
    "results": {*LOW},
    "dataset": {*LOW, "envs", "results"},
    "bots": {*LOW, "envs", "code_actions"},
    "run": {*LOW, "agents", "envs", "workers", "models", "knowledge", "results", "dataset"},
    "rollouts": {*LOW, "agents", "workers", "models", "results", "run"},
    "studies": {*LOW, "agents", "models", "knowledge", "results", "run"},
    "banks": {*LOW, "agents", "workers", "models", "results", "run"},
    "export": {*LOW, "workers", "models", "results", "run"},
    "tracking": {*LOW, "results", "export"},
    "display": {*LOW, "models", "results", "run"},
    "api": {
        *LOW,
        "workers",
        "models",
        "knowledge",
        "results",
        "run",
        "export",
        "display",
        "viewer",
        "cluster",
    },
    "clients": {
        *LOW,
        "agents",
        "models",
        "results",
        "run",
        "viewer",
    },
    "gym": {*LOW, "workers", "api"},
    "viewer": {*LOW, "workers", "knowledge", "results", "run", "dataset"},
    "cluster": {*LOW, "agents", "envs", "workers", "models", "results", "run"},
}
"""Which packages each may import; `cli` may import all, and no package imports `cli`."""


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts)


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0] if path.parent != PACKAGE else ""


@cache
def imports(path: Path) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
            if node.module == "balrog_rag":
                names += [f"balrog_rag.{alias.name}" for alias in node.names]
    return tuple(names)


def test_imports_follow_the_arrows() -> None:
    wrong = []
    for path in modules():
        here = room(path)
        if here not in ALLOWED or path.name == "__main__.py":  # a command may call what runs it
            continue
        for name in imports(path):
            there = name.split(".")[1] if name.startswith("balrog_rag.") else None
            ours = there is not None and any((PACKAGE / file).exists() for file in (there, f"{there}.py"))
            if ours and there not in {here, *ALLOWED[here]}:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


NETHACK = {"envs/nethack", "envs/nethack/world"}
INSIDE: dict[str, set[str]] = {
    "envs": set(),
    "envs/babaisai": {"envs"},
    "envs/babyai": {"envs"},
    "envs/crafter": {"envs"},
    "envs/textworld": {"envs"},
    "envs/nethack": NETHACK,
    "envs/nethack/world": NETHACK,
    "envs/minihack": NETHACK,
    "envs/nethackers": NETHACK,
    "envs/decisions": {*NETHACK, "envs/minihack"},
    "bots/nethack/skills": NETHACK,
    "bots/nethack/delver": {*NETHACK, "bots/nethack/skills"},
    "bots/nethack/reader": {*NETHACK, "bots/nethack/delver", "bots/nethack/skills"},
    "bots/nethack/minihacker": {*NETHACK, "bots/nethack/skills"},
    "bots/nethack/netplay": {*NETHACK, "envs/minihack", "bots/nethack/skills"},
    "bots/nethack/plan": {
        *NETHACK,
        "bots/nethack/delver",
        "bots/nethack/minihacker",
        "bots/nethack/netplay",
        "bots/nethack/skills",
    },
    "bots/nethack/guests": {*NETHACK, "envs/nethackers"},
}
"""The same inside `envs/` and `bots/`."""


def _part(path: Path) -> str:
    """The innermost folder of INSIDE that holds a file."""
    folders = [str(folder) for folder in path.parents]
    return max((part for part in INSIDE if part in folders), key=len, default="")


def _file_of(name: str) -> Path:
    """The file of a module or of a name in it, relative to the package."""
    path = Path(*name.split(".")[1:])
    return path / "__init__.py" if (PACKAGE / path).is_dir() else path.with_suffix(".py")


def test_games_and_bots_keep_apart() -> None:
    wrong = []
    for path in (*(PACKAGE / "envs").rglob("*.py"), *(PACKAGE / "bots").rglob("*.py")):
        here = _part(path.relative_to(PACKAGE))
        for name in imports(path):
            if path.name == "__main__.py" or not name.startswith(("balrog_rag.envs.", "balrog_rag.bots.")):
                continue
            there = _part(_file_of(name))
            if there not in {here, *INSIDE.get(here, ())}:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


def test_knowledge_knows_no_game() -> None:
    """Only the builder of the embedded corpus reads NetHack's tables."""
    for path in (PACKAGE / "knowledge").rglob("*.py"):
        if "embedded" not in path.stem and "embedded" not in path.parts:
            games = ("nle", "minihack", "balrog_rag.envs")
            assert not [name for name in imports(path) if name.startswith(games)], path


GAMES_WORDS = re.compile(
    r"\b(nle|nethack|minihack|babyai|babaisai|crafter|textworld|dlvl|blstats|hunger|amulet|dungeon|xlogfile)\b",
    re.I,
)
"""Words of single games. Only some packages may use them; elsewhere they mean that game-specific code is
outside of its kind."""
OF_GAMES = {
    "results/leaderboard/submission.py",  # BALROG's board names its six environments
}
"""Files that may name games."""
NO_GAMES = {*ALLOWED} - {"envs", "bots", "knowledge", "studies", "dataset"}


def test_nothing_outside_envs_speaks_of_a_game() -> None:
    """A kind of game owns everything that is said about it: also in prompts, comments and error messages."""
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for room in sorted(NO_GAMES)
        for path in sorted((PACKAGE / room).rglob("*"))
        if path.suffix in (".py", ".j2") and str(path.relative_to(PACKAGE)) not in OF_GAMES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if GAMES_WORDS.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("name", ["pickle", "shelve", "marshal", "dill", "cloudpickle"])
def test_nothing_is_pickled(name: str) -> None:
    assert [path for path in modules() if name in {module.split(".")[0] for module in imports(path)}] == []


def test_no_code_is_made_from_text() -> None:
    calls = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("eval", "exec", "compile")
    }
    assert calls == set()


def test_configs_choose_no_code_by_path() -> None:
    for path in (PACKAGE.parent / "conf").rglob("*.yaml"):
        assert "_target_" not in path.read_text(), path


@pytest.mark.parametrize(
    "module", ["main", "verbs", "episode", "knowledge", "models", "prompts", "report", "dataset", "learn"]
)
def test_help_loads_nothing_heavy(module: str) -> None:
    """A command's entry point imports no game, model, index or plot library."""
    heavy = "{'nle', 'minihack', 'litellm', 'faiss', 'pandas', 'matplotlib', 'scipy', 'torch', 'xllamacpp'}"
    code = f"import balrog_rag.cli.{module}, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


FIRST_CALL = """
import sys
from balrog_rag.models.own_server import OwnServer
async def call(self, messages, answer=None):
    heavy = {"numpy", "nle", "minihack", "gymnasium", "litellm", "httpx", "faiss", "pandas", "scipy", "rich"}
    print(sorted(heavy & set(sys.modules)), file=sys.stderr, flush=True)
    import os; os._exit(0)
OwnServer.__call__ = call
from balrog_rag.cli.main import main
main(["agent=naive", "model=vllm", "env.episodes=1", "limits.steps=1", "--log", "plain"])
"""


def test_a_run_asks_its_model_before_anything_heavy_is_loaded(tmp_path: Path) -> None:
    """Each of these takes a tenth of a second to seconds, and every run waits for what it imports first."""
    command = [sys.executable, "-c", FIRST_CALL]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_every_dependency_has_an_upper_bound() -> None:
    """A fresh installation must not break because a dependency has made an incompatible release."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    extras = chain.from_iterable(project["optional-dependencies"].values())
    unbounded = [each for each in (*project["dependencies"], *extras) if "<" not in each and "==" not in each]
    assert unbounded == []


def test_every_package_has_its_folder_of_tests() -> None:
    """Whoever changes a package finds its tests under the same name."""
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {
        name for name in packages if not any((PACKAGE.parent / "tests" / name).glob("**/test_*.py"))
    } == set()
