"""Wrong overrides, each with the message that says what to write instead."""

from pathlib import Path

import pytest

from balrog_rag import __version__
from balrog_rag.cli import verbs
from balrog_rag.cli.main import main
from balrog_rag.config.checks import check_together
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.config.groups import group_options
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError, KnowledgeError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.passages import Cut
from balrog_rag.results import run_folder
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.new_folder import who_plays
from balrog_rag.run.resume import resumed_config
from balrog_rag.run.services import player_spec

PACKAGE = Path(__file__).parents[2] / "balrog_rag"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("agent=[naive,cot]", "agent=[naive,cot]: takes one agent; to play each, use -m agent=naive,cot"),
        ("model=[openai,anthropic]", "takes one model; to play each, use -m model=openai,anthropic"),
        ("++env=[corridor,nethack]", "takes one env; to play each, use -m env=corridor,nethack"),
        ("agent=[naive]", "agent=[naive]: not a list; write agent=naive"),
        ("agent=naive,cot", "agent=naive,cot: expected one value; to play each, use -m agent=naive,cot"),
        ("run.seed=1,2", "run.seed=1,2: expected one value; to play each, use -m run.seed=1,2; a value with"),
        ("env.seeds=1,2", "env.seeds=1,2: expected a list; write env.seeds=[1,2], or"),
        ("env.tasks=nle/X", "env.tasks: expected a list; write env.tasks=[nle/X]"),
        ("env=nle", "env=nle: a kind of game without a preset; name its tasks: env.tasks=[nle/NetHack"),
        ("env=nle/X", "env=nle/X: a task, not a preset; write env.tasks=[nle/X]"),
        ("env.tasks=[nle/X,]", "env.tasks=[nle/X,]: cannot be parsed; close the bracket or quote"),
        ("env.max_steps=5", "env.max_steps: expected a mapping; write env.max_steps.NAME=5"),
        (
            "agent.retrieval=true",
            "agent.retrieval: a section, not a key; write e.g. agent.retrieval.enable",
        ),
        ("agent = cot", "agent: not KEY=VALUE; write agent=VALUE, without spaces around ="),
        ("agent:cot", "agent:cot: not KEY=VALUE; write agent=cot"),
        ("agent=play.py", "agent=play.py: name a class or function of the file; write agent=play.py:NAME"),
        ("agent= cot", "agent=: agent missing; write agent=VALUE without spaces around ="),
        ("model=gpt-4o", "model=gpt-4o: model= takes the provider; write model=openai model.name=gpt-4o"),
        ("model=openai/o9", "model= takes the provider; write model=openai model.name=openai/o9"),
        ("model=qwen3:8b", "; set the model's own name with model.name="),
        ("env.autopickup=false run.dir=x", "run.dir: no such key; did you mean run.folder"),
        ("~env.autopickup run.nme=x", "run.nme: no such key; did you mean run.name"),
        ("env.autopickup=false run.name='x", "run.name='x: cannot be parsed"),
        ("++env.autopickup=false limits.steps=x", "limits.steps=x: must be a whole number"),
        (
            "env.autopickup=false env.character=a,b",
            "env.character=a,b: expected one value; to play",
        ),
        ("+foo=1", "foo: no such key; --help lists them"),
        ("+run.foo=1", "run.foo: no such key; did you mean run.folder"),
        ("++run.foo=1", "run.foo: no such key"),
        ("autopickup=false", "autopickup: no such key; write env.autopickup=VALUE, or"),
        ("env.nethack.autopickup=1", "env.nethack.autopickup: no such key; write env.autopickup=VALUE, or"),
        ("delver", "delver: not KEY=VALUE; write agent=delver"),
        ("crafter", "crafter: not KEY=VALUE; write env=crafter or knowledge=crafter"),
    ],
)
def test_one_line_says_what_to_write(words: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        compose(words.split())
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("env.autopickup=fals", "env.autopickup=fals: takes true, false or null"),
        ("env.no_progress=x", "env.no_progress=x: takes a whole number"),
        ("env.no_progress=-1", "env.no_progress=-1: takes a whole number of at least 0"),
        ("env.skip_more=3", "env.skip_more=3: takes true or false"),
        (f"env.renamed={2**63}", f"env.renamed={2**63}: must be from {1 - 2**63} to {2**63 - 1}"),
        ("env.des_file=[]", "env.des_file=[]: takes a text or null"),
    ],
)
def test_what_an_option_of_a_game_takes_is_said_in_words(word: str, says: str) -> None:
    kind = kind_of("minihack")
    with pytest.raises(ConfigError) as raised:
        resolved_options(kind, compose([word]).env.options, [kind])
    assert str(raised.value) == says


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-agent naive", "-agent: a key, not a flag; write agent=naive"),
        ("-episodes 3", "-episodes: a key, not a flag; write env.episodes=3"),
        ("-agnet naive", "-agnet: no such flag"),
    ],
)
def test_a_key_is_not_a_flag_with_one_dash_either(
    words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    assert capsys.readouterr().err.startswith(f"error: {says}")


def test_a_model_without_a_name_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^model\.name: empty; set model\.name=NAME$"):
        check_together(compose(["model=openai", "model.name="]))


def test_a_limit_for_an_environment_that_is_none_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"env\.max_steps\.nethack: no such environment; this run plays nle; did you mean"
    ):
        check_together(compose(["env.max_steps.nethack=9"]))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("agent=robust_star_rag", "robust_star_rag_scripted"),
        ("agent=naive", "naive_scripted"),
        ("agent=naive agent.retrieval.enabled=true", "naive_rag_scripted"),
        ("agent=naive model=vllm model.name=Qwen/Qwen3-8B", "naive_hosted_vllm_Qwen_Qwen3-8B"),
        ("agent=naive model=ollama model.name=qwen3:8b", "naive_ollama_chat_qwen3_8b"),
        ("agent=random model=local", "random"),
        ("agent=dummy model=openai", "dummy"),
    ],
)
def test_a_run_is_named_after_what_plays(words: str, name: str) -> None:
    assert who_plays(compose(["model=scripted", *words.split()])) == name


def test_an_installed_agent_is_chosen_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.agents, "_added", {"planner": object})
    assert "planner" in group_options()["agent"]
    config = compose(["agent=planner", "agent.lenient=true"])
    assert (config.agent.name, config.agent.max_text_history, config.agent.lenient) == ("planner", 16, True)
    with pytest.raises(ConfigError, match="agent=planer: no such agent; did you mean planner"):
        compose(["agent=planer"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--agent naive", "--agent: a key, not a flag; write agent=naive"),
        ("--agent=naive", "--agent=naive: a key, not a flag; write agent=naive"),
        ("--resume results/X", "--resume: a key, not a flag; write resume=results/X"),
        ("-m --agent naive,cot", "--agent: a key, not a flag; write agent=naive,cot"),
        ("--env.episodes 5 agent=cot", "--env.episodes: a key, not a flag; write env.episodes=5"),
        ("--episodes 5 agent=cot", "--episodes: a key, not a flag; write env.episodes=5"),
        ("--seed=3", "--seed=3: a key, not a flag; write run.seed=3 or model.seed=3"),
        ("--model --cfg job", "--model: a key, not a flag; write model=VALUE"),
        ("report results/X", "write balrog-rag report results/X"),
    ],
)
def test_words_of_other_programs(words: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"error: {says}\n"


def test_the_version_is_this_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == verbs.main(["--version"]) == 0
    assert capsys.readouterr().out == f"balrog_rag {__version__}\n" * 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("knowledge.index=faiss", "unknown index; did you mean flat_ip? valid names: bm25, by_size, flat_ip"),
        ("knowledge.index=flat_l3", "unknown index; did you mean flat_l2, flat_ip?"),
    ],
)
def test_a_guess_that_is_far_off_does_not_hide_the_valid_names(words: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        compose(words.split())
    assert says in str(raised.value)
    assert ("valid names" in str(raised.value)) == ("valid names" in says)


def test_the_reader_of_folders_is_offered_as_no_corpus() -> None:
    with pytest.raises(
        KnowledgeError,
        match=r"or file; valid names: babaisai, crafter, embedded, games, minihack, nethack_common, "
        r"nethackwiki, spoilers, textworld$",
    ):
        load("my_notes/", Cut(240, 0))


def test_a_prompt_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "order.j2").write_text("Say {{ example }},\nand nothing else.")
    for word in (
        f"agent.prompts.answer_naive=@{tmp_path}/order.j2",
        f"agent.prompts={{answer_naive: '@{tmp_path}/order.j2'}}",
    ):
        assert compose([word]).agent.prompts == {"answer_naive": "Say {{ example }},\nand nothing else."}
    with pytest.raises(
        ConfigError, match=r"agent\.prompts\.answer_naive=@/nowhere: the file cannot be read \(No such"
    ):
        compose(["agent.prompts.answer_naive=@/nowhere"])


def test_a_run_folder_names_no_file_to_read(tmp_path: Path) -> None:
    """A stranger's configuration could send any file of ours to any model."""
    config = compose(["agent=naive", "model=scripted", "agent.prompts.answer_naive=x"])
    config.agent.prompts["answer_naive"] = f"@{__file__}"
    run_folder.create(tmp_path / "r", plain(config))
    assert player_spec(resumed_config(read_run(tmp_path / "r"), [])).agent["prompts"] == {
        "answer_naive": f"@{__file__}"
    }
