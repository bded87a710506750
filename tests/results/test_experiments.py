"""Every experiment's arms compose, differ, and match their names."""

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest, plain
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results import experiments
from balrog_rag.util.paths import data


def test_every_description_has_its_shared_settings():
    shared = {path.stem for path in (data("conf") / "experiment").glob("*.yaml")}
    assert set(experiments.names()) <= shared


LARGE = {"paper_figure3", "retrieval_bounds", "skills_and_knowledge", "skills_and_retrieval"}
"""Experiments of so many arms that composing them takes seconds."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in experiments.names()],
)
def test_every_arm_composes_and_no_two_are_the_same(name):
    found = experiments.find(name)
    assert found is not None
    assert found.question.endswith("?")
    configs = [plain(compose([f"experiment={name}", "model=scripted", *arm.overrides])) for arm in found.arms]
    assert len({config_digest(config) for config in configs}) == len(found.arms)


def test_the_papers_experiment_has_the_papers_settings():
    found = experiments.find("paper_figure3")
    best = next(arm for arm in found.arms if arm.name == "robust_star_system_rag")
    config = compose(["experiment=paper_figure3", "model=scripted", *best.overrides])
    assert (config.env.seeding, config.env.seeds, config.env.episodes) == ("fixed", [73], 15)
    assert (config.agent.max_text_history, config.agent.max_cot_history) == (16, 5)
    assert (config.agent.retrieval.enabled, config.agent.retrieval.k) == (True, 3)
    assert (config.agent.retrieval.query, config.agent.retrieval.context) == ("model", "summary")
    assert (config.agent.name, config.agent.system, config.agent.reason_words) == ("robust_star", "paper", 20)
    assert (config.knowledge.corpus, config.knowledge.tokens, config.knowledge.index) == (
        "minihack",
        0,
        "flat_l2",
    )
    assert (config.env.options["actions"], config.env.options["skip_more"]) == ("balrog", True)
    assert config.model.temperature == 0.0


def test_balrogs_experiment_has_balrogs_values():
    """Its balrog/config/config.yaml of 2026-03-16, as far as it decides how an episode goes."""
    config = compose(["+experiment=balrog", "model=openai"])
    env, agent, model = config.env, config.agent, config.model
    assert (env.episodes, env.max_steps) == (None, {})
    assert [kind_of(name).max_steps("") for name in ("nle", "minihack", "textworld")] == [100_000, 100, 80]
    assert (env.seeding, env.seeds, env.options["character"]) == ("balrog", [], "@")
    assert (env.options["actions"], env.options["layout"]) == ("balrog", "hybrid")
    assert (env.options["skip_more"], env.options["no_progress"], env.options["autopickup"]) == (
        True,
        150,
        None,
    )
    assert len(env.tasks) == 58
    assert (agent.name, agent.system, agent.instruction_role) == ("naive", "balrog", "user")
    assert (agent.max_text_history, agent.max_image_history, agent.max_cot_history) == (16, 0, 1)
    assert (agent.icl_episodes, agent.demonstrations_of) == (1, "task")
    assert (agent.max_icl_history, agent.lenient, agent.fallback, agent.reason_words) == (
        1000,
        False,
        "none",
        None,
    )
    assert (agent.history.window, agent.observation.map, agent.observation.past_maps) == (
        "slide",
        "full",
        "all",
    )
    assert not any(
        [agent.retrieval.enabled, agent.notebook.enabled, agent.loops.enabled, agent.batch.size > 1]
    )
    assert (model.temperature, model.max_tokens, model.thinking_budget) == (1.0, 8192, None)
    assert (model.fuse_roles, model.content, model.constrain) == (False, "parts", False)
    assert config.limits.steps is None


def test_the_first_table_compares_whole_passages_with_summaries():
    found = experiments.find("paper_table1")
    configs = [compose(["experiment=paper_table1", "model=scripted", *arm.overrides]) for arm in found.arms]
    assert [config.agent.retrieval.context for config in configs] == ["whole", "summary"]
    assert {config.knowledge.tokens for config in configs} == {0}, "pages stay whole"
    assert {config.agent.fallback for config in configs} == {"letters"}, "the paper's own Robust CoT + RAG"


def test_a_preset_without_arms_is_none():
    assert experiments.find("no_such_experiment") is None
    assert experiments.find("../experiments/paper_table1") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("title: [", "not a valid experiment"),
        ("title: a\nquestion: b?\nbaseline: x\narms: {y: []}", "baseline 'x' is not an arm"),
        ("title: a\nquestion: b?\nbaseline: ../y\narms: {../y: []}", "invalid name; use only letters"),
        ("title: a\nquestion: b?\nbaseline: y\narms: {y: []}\nother: 1", "not a valid experiment"),
    ],
)
def test_a_wrong_description_is_one_clear_error(tmp_path, monkeypatch, text, problem):
    monkeypatch.setattr(experiments, "folder", lambda: tmp_path)
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError, match=problem):
        experiments.find("mine")
