"""The frozen configuration of a run, and what a resume or a fork may change in it."""

from pathlib import Path

import pytest

from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest, plain, thaw
from balrog_rag.config.plain_secrets import refuse_in
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import run_folder
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.fork_plan import with_other_player
from balrog_rag.run.new_folder import folder_for
from balrog_rag.run.resume import resumed_config
from balrog_rag.run.services import resolved

PRIOR = "+knowledge.prior={{notes/a.md: {}}}"


def made(run: Path, *words: str) -> Path:
    """A run folder with this configuration, as a run creates it."""
    run_folder.create(run, plain(resolved(compose(["model=scripted", *words]))))
    return run


def test_a_name_with_dots_is_part_of_a_configuration() -> None:
    little, much = (plain(compose([PRIOR.format(factor)])) for factor in (0.5, 0.7))
    assert config_digest(little) != config_digest(much)
    refuse_in(little)
    with pytest.raises(ConfigError, match=r"model\.extra_headers\.'x\.key': looks like a secret"):
        refuse_in({"model": {"extra_headers": {"x.key": "sk-proj-0123456789abcdefghij"}}})


def test_a_resume_compares_names_with_dots(tmp_path: Path) -> None:
    run = made(tmp_path / "r", PRIOR.format(0.5))
    assert resumed_config(read_run(run), [PRIOR.format(0.5)]).knowledge.prior["notes/a.md"] == 0.5
    assert resumed_config(read_run(run), ["runner.workers=3"]).knowledge.prior["notes/a.md"] == 0.5
    with pytest.raises(ConfigError, match=r"resume cannot change knowledge\.prior\.'notes/a\.md';"):
        resumed_config(read_run(run), [PRIOR.format(0.7)])


@pytest.mark.parametrize("word", ["knowledge.tokens=40", "knowledge.overlap=120"])
def test_a_fork_may_cut_a_folder_of_pages_otherwise(tmp_path: Path, word: str) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "newt.md").write_text("# Newt\n\n" + "A newt bites, and a lizard does not. " * 60)
    words = [f"knowledge.corpus={pages}", "agent=robust_star_rag"]
    run = made(tmp_path / "r", *words)
    assert with_other_player(read_run(run), [word]).knowledge == resolved(compose([*words, word])).knowledge
    assert (
        with_other_player(read_run(run), [word]).knowledge.corpus_digest
        != with_other_player(read_run(run), []).knowledge.corpus_digest
    )


def test_what_is_begun_in_the_same_second_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    run = compose(["model=scripted", f"run.folder={tmp_path}"]).run
    for _ in range(3):
        folder_for(run, "sweep").mkdir()
    assert len(list(tmp_path.glob("*_sweep*"))) == 3


def test_a_key_added_later_changes_no_digest_unless_it_is_set() -> None:
    config = plain(compose(["agent=cot_rag"]))
    assert "keep_tokens" not in config["agent"]["retrieval"]
    assert thaw(config["agent"], AgentConfig).retrieval.order == "listed"
    kept = plain(compose(["agent=cot_rag", "agent.retrieval.keep_tokens=1"]))
    assert config_digest(kept) != config_digest(config)
