"""`conf_dir=DIR`: a user's own agents, games and experiments, found like the built-in ones."""

import csv
from pathlib import Path

import pytest

from balrog_rag.cli.main import main
from balrog_rag.config.compose import compose
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.experiments import of_sweep
from tests.support import command, evaluate

FILES = {
    "agent/mine.yaml": "defaults: [cot, _self_]\nmax_text_history: 3\n",
    "env/short.yaml": "defaults: [corridor, _self_]\nepisodes: 1\n",
    "experiment/study.yaml": "# @package _global_\ndefaults: [override /env: short]\nlimits: {steps: 2}\n",
    "arms/study.yaml": "title: Mine\nquestion: Is mine better?\nbaseline: cot\n"
    "arms: {cot: [agent=cot], mine: [agent=mine]}\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name has to be quoted."""
    top = tmp_path / "my conf, it's"
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def test_presets_are_found_beside_the_built_in_ones(folder: Path) -> None:
    config = compose([f"conf_dir={folder}", "agent=mine", "env=short", "model=scripted"])
    assert (config.agent.name, config.agent.max_text_history, config.env.episodes) == ("cot", 3, 1)
    assert config.env.tasks == compose(["env=corridor"]).env.tasks


def test_the_files_of_the_documentation_are_found(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/experiments.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```yaml\n")[1:]]
    for block in blocks:
        path = tmp_path / block.partition("# my_conf/")[2].split()[0].rstrip(":")
        path.parent.mkdir(exist_ok=True)
        path.write_text(block)
    (tmp_path / "env").mkdir()
    (tmp_path / "env/short.yaml").write_text(FILES["env/short.yaml"])
    assert len(blocks) == 3
    config = compose([f"conf_dir={tmp_path}", "+experiment=study", "agent=mine", "model=scripted"])
    assert (config.limits.steps, config.env.episodes, config.agent.max_text_history) == (100, 1, 3)


def test_an_experiment_without_its_header_is_refused(folder: Path) -> None:
    path = folder / "experiment/study.yaml"
    path.write_text("# What all arms share\n" + path.read_text())
    with pytest.raises(
        ConfigError, match=r"study\.yaml: its first line must be `# @package _global_`; add it"
    ):
        compose([f"conf_dir={folder}", "agent=mine"])


def test_without_the_folder_they_are_unknown(folder: Path) -> None:
    compose([f"conf_dir={folder}", "agent=mine"])
    with pytest.raises(ConfigError, match="agent=mine: no such agent"):
        compose(["agent=mine"])
    with pytest.raises(ConfigError, match=r"agent=mien: no such agent; did you mean mine\?"):
        compose([f"conf_dir={folder}", "agent=mien"])


def test_an_experiment_plays_its_arms_and_can_be_resumed_elsewhere(folder: Path, tmp_path: Path) -> None:
    done = evaluate(f"conf_dir={folder.name}", "+experiment=study", "run.name=s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "results/s/sweep.csv").open() as file:
        assert {row["run"]: row["ended"] for row in csv.DictReader(file)} == {"cot": "1", "mine": "1"}
    found = of_sweep(tmp_path / "results/s")
    assert found is not None
    assert (found.baseline, [arm.name for arm in found.arms]) == ("cot", ["cot", "mine"])
    (tmp_path / "other").mkdir()
    again = command("balrog_rag.eval", f"resume={tmp_path / 'results/s'}", cwd=tmp_path / "other")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("agent/cot.yaml", "agent=cot is built in; choose another name"),
        ("agents/mine.yaml", "no such group; use agent, debug, env, experiment"),
    ],
)
def test_a_file_that_would_not_be_found_is_refused(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=said):
        compose([f"conf_dir={tmp_path}"])


@pytest.mark.parametrize(("made", "said"), [(False, "no such folder"), (True, "contains no preset")])
def test_a_folder_without_presets_is_refused(made: bool, said: str, tmp_path: Path) -> None:
    if made:
        (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=said):
        compose([f"conf_dir={tmp_path / 'empty'}"])


def test_a_wrong_key_in_a_preset_is_one_line(folder: Path) -> None:
    (folder / "agent/mine.yaml").write_text("defaults: [cot, _self_]\nmax_txt_history: 3\n")
    with pytest.raises(ConfigError, match=r"^[^\n]*max_txt_history[^\n]*$"):
        compose([f"conf_dir={folder}", "agent=mine"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [\n", r"not YAML: .* in \".*agent/mine\.yaml\", line 2, column 1"),
        (
            "defaults: [cto, _self_]\n",
            r"agent/mine\.yaml: its defaults name cto: no such agent; did you mean cot",
        ),
        (
            "defaults: [cot, _self_]\nmax_text_history: many\n",
            r"agent\.max_text_history=many: must be a whole",
        ),
    ],
)
def test_a_preset_that_cannot_be_read_is_one_line(folder: Path, text: str, line: str) -> None:
    (folder / "agent/mine.yaml").write_text(text)
    with pytest.raises(ConfigError, match=f"^{line}[^\n]*$"):
        compose([f"conf_dir={folder}", "agent=mine"])


def test_help_lists_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"conf_dir={folder}", "agent=mine", "--help"]) == 0
    agents = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  agent= "))
    assert " mine " in agents


OWN_CLASS = """
from balrog_rag.agents.answers import AFTER_LABEL
from balrog_rag.agents.base import BaseAgent

class Mine(BaseAgent):
    style, order = AFTER_LABEL, "answer_mine"
    own_prompts = {"answer_mine": "Write ACTION: <action>"}
"""


@pytest.mark.slow
def test_presets_of_an_own_class_are_swept_each_with_its_prompts(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_CLASS)
    options = "options: {path: mine.py, class_name: Mine, asks_model: true}\n"
    other = 'prompts: {answer_mine: "Other words. ACTION: <action>"}\n'
    for name, prompts in {"plain": "", "other": other}.items():
        preset = folder / "agent" / f"{name}.yaml"
        preset.write_text(f"defaults: [own_class, _self_]\n{options}{prompts}")
    words = (f"conf_dir={folder.name}", "agent=plain,other", "env=short", "limits.steps=2", "run.name=s")
    done = evaluate("-m", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = {
        run: "Other words." in journal.read_text()
        for run in ("plain", "other")
        for journal in (tmp_path / f"results/s/agent={run}").rglob("*.journal.jsonl")
    }
    assert said == {"plain": False, "other": True}
