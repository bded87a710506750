"""Every agent with every game and every model; every switch has its default in conf/ only."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import combinations, cycle, islice, product
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from balrog_rag import agents
from balrog_rag.agents import retrieves
from balrog_rag.agents.base import BaseAgent
from balrog_rag.agents.prompts import Prompts, fingerprint, names
from balrog_rag.config.compose import compose
from balrog_rag.config.groups import group_options
from balrog_rag.contracts import registry
from balrog_rag.contracts.data import TaskView
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import AgentHints, EnvironmentKind, kind_of
from balrog_rag.contracts.programs import Begin, plays, program_of
from balrog_rag.envs.minihack.kind import Solved
from balrog_rag.envs.nethack.actions import REFUSED_BY_BALROG, nethack_actions
from tests.agents.support import VIEW, Script, agent_config, made, moment, perform

OPTIONS = group_options()
AGENTS = [name for name in OPTIONS["agent"] if name != "few_shot"]
VALUES = {
    "query": ["observation", "short", "both", "model", "model_memory", "noticed", "truth"],
    "when": ["every", "interval", "novelty", "asked", "adaptive"],
    "context": ["whole", "cut", "summary"],
    "place": ["before", "after", "system"],
    "reuse": ["never", "last", "seen"],
}


GROUPS = [OPTIONS["agent"], OPTIONS["env"], OPTIONS["model"]]
DIAGONAL = list(islice(zip(*map(cycle, GROUPS), strict=False), max(map(len, GROUPS))))


def pairwise(*groups: Sequence[str]) -> list[tuple[str, ...]]:
    """Combinations of three groups in which every pair of options from two groups occurs.

    The two larger groups are crossed, and the third is shifted by one from row to row, as in a Latin square.
    """
    order = sorted(range(3), key=lambda place: -len(groups[place]))
    first, second, third = (groups[place] for place in order)
    rows = [
        (one, other, third[(row + column) % len(third)])
        for row, one in enumerate(first)
        for column, other in enumerate(second)
    ]
    return [tuple(row[order.index(place)] for place in range(3)) for row in rows]


PAIRS = pairwise(*GROUPS)


@pytest.fixture
def chess(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of game without prompts."""
    kind = EnvironmentKind(
        name="chess",
        title="Chess",
        tasks=lambda: ["Chess-v0"],
        make=lambda spec, ttyrec: None,
        progress=lambda game: Solved(),
    )
    monkeypatch.setattr(registry.environments, "_added", {"chess": kind})


def composes(agent: str, env: str, model: str) -> bool:
    given = ["model.options.journal=a.journal.jsonl"] if model == "replay" else []
    config = compose([f"agent={agent}", f"env={env}", f"model={model}", "model.name=x", *given])
    named = config.model.name.rpartition("/")[2] == "x"  # after its provider, where it has one
    return retrieves(config.agent) == (agent.endswith("_rag") or agent == "reader") and named


@pytest.mark.parametrize(("agent", "env", "model"), DIAGONAL)
def test_every_agent_game_and_model_composes(agent: str, env: str, model: str) -> None:
    assert composes(agent, env, model)


def test_the_pairs_are_all_there() -> None:
    for one, other in combinations(range(3), 2):
        assert {(row[one], row[other]) for row in PAIRS} == set(product(GROUPS[one], GROUPS[other]))


@pytest.mark.slow
@pytest.mark.parametrize("agent", OPTIONS["agent"])
def test_every_agent_composes_with_every_game_and_model(agent: str) -> None:
    """In pairs: every agent with every game, every agent with every model, every game with every model."""
    refused = [row for row in PAIRS if row[0] == agent and not composes(*row)]
    assert not refused


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.usefixtures("chess")
@pytest.mark.parametrize("env", ["nle", "minihack", "chess"])
def test_every_agent_plays_every_kind_of_game(agent: str, env: str) -> None:
    # A program, needs skills, a file, answers by code, or decides without a model.
    others = agent.startswith(("netplay", "floor_")) or agent in ("own_class", "code", "reader")
    if plays(agent) or others:
        return
    view = TaskView(env, "Task-v0", "Win.", VIEW.actions, VIEW.accepted, "esc")
    text = "Query: north\n<|ACTION|>north<|END|>\nACTION: north"
    script = Script(act="north" if "naive" in agent else text, query=text, summary=text)
    decisions = perform(made(agent_config(agent), view, script), [moment(1), moment(2)])
    assert [each.action for each in decisions] == ["north"] * 2


def test_the_default_agent_is_the_papers_best() -> None:
    agent = compose(["model=scripted"]).agent
    assert (agent.name, agent.system, agent.retrieval.enabled) == ("robust_star", "improved", True)
    retrieval = agent.retrieval
    assert (retrieval.query, retrieval.when, retrieval.k, retrieval.context) == (
        "model",
        "every",
        3,
        "summary",
    )


PAPERS = {
    # the agent: its reason's words, fallback, system, words of state, titles, query examples, example action
    "paper_naive_rag": (None, "none", "balrog", 30, False, 3, None),
    "paper_robust_naive_rag": (None, "none", "balrog", 30, False, 3, None),
    "paper_cot_rag": (20, "none", "balrog", 50, False, 2, None),
    "paper_robust_cot_rag": (15, "letters", "balrog", 30, False, 3, None),
    "paper_robust_star": (None, "none", "paper", 50, False, 2, "go forward"),
    "paper_robust_star_rag": (20, "none", "paper", 50, False, 2, "go forward"),
}


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_agents_differ_where_its_repository_does(name: str) -> None:
    agent = agent_config(name)
    looks = agent.retrieval
    assert PAPERS[name] == (
        agent.reason_words,
        agent.fallback,
        agent.system,
        looks.state_words,
        looks.titles,
        len(looks.examples),
        agent.example,
    )
    assert (agent.max_text_history, agent.max_cot_history, looks.k) == (16, 5, 3)
    assert agent.remember_cot == (agent.name == "cot")


def test_balrogs_values_stand_where_balrog_has_the_switch() -> None:
    agent = agent_config("naive")
    assert (agent.max_text_history, agent.max_image_history, agent.max_cot_history) == (16, 0, 1)
    assert (agent.lenient, agent.instruction_role, agent.max_icl_history) == (False, "user", 1000)
    assert (agent.history.window, agent.observation.map, agent.observation.past_maps) == (
        "slide",
        "full",
        "all",
    )
    assert (agent.batch.size, agent.notebook.enabled, agent.loops.enabled) == (1, False, False)


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("agent=nave", "naive"),
        ("agent.sytem=improved", "agent.system"),
        ("agent.system=better", "improved"),
        ("agent.max_text_history=-1", "at least 0"),
        ("agent.retrieval.when=sometimes", "every"),
        ("agent.retrieval.k=0", "at least 1"),
        ("agent.retrieval.k=many", "agent.retrieval.k"),
        ("agent.history.block=0", "at least 1"),
        ("agent.batch.size=1000", "at most 100"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_key(override: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        compose(["model=scripted", override])
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


@settings(max_examples=60, deadline=None)
@given(
    st.fixed_dictionaries({key: st.sampled_from(values) for key, values in VALUES.items()}), st.integers(0, 3)
)
def test_every_combination_of_retrieval_switches_plays(switches: dict[str, str], keep: int) -> None:
    config = agent_config("robust_star_rag")
    settings_ = type(config.retrieval)(**(asdict(config.retrieval) | switches | {"keep": keep, "every": 2}))
    script = Script(act="<|ACTION|>north<|END|>", query="Query: newt", summary="Newts.")
    decisions = perform(
        made(replace(config, retrieval=settings_), VIEW, script), [moment(n) for n in range(4)]
    )
    assert [each.action for each in decisions] == ["north"] * 4


def test_a_prompt_can_be_replaced_by_the_configuration() -> None:
    config = agent_config("naive", 'agent.prompts.answer_naive="Say {{ example }}."')
    agents.resolve(config)
    script = Script(act="north")
    perform(made(config, VIEW, script), [moment(1)])
    assert script.last().endswith("\n\nSay far east.")


@pytest.mark.usefixtures("chess")
def test_an_instruction_can_be_made_for_another_game() -> None:
    view = TaskView("chess", "Chess-v0", "Mate.", VIEW.actions, VIEW.accepted, "esc")
    config = agent_config("naive", 'agent.prompts.instruction_chess="{{ goal }} {{ task }}"')
    script = Script(act="north")
    perform(made(config, view, script), [moment(1)])
    assert script.requests[0].messages[0].text == "Mate. Chess-v0"


@pytest.mark.usefixtures("chess")
@pytest.mark.parametrize(
    ("override", "first"),
    [
        ([], "Mine: Mate."),
        (['agent.prompts.instruction="Yours: {{ goal }}"'], "Yours: Mate."),
        (['agent.prompts.instruction_chess="Of chess: {{ goal }}"'], "Of chess: Mate."),
    ],
)
def test_an_agents_own_instruction_is_used_unless_the_user_replaces_it(
    monkeypatch: pytest.MonkeyPatch, override: list[str], first: str
) -> None:
    class Own(BaseAgent):
        own_prompts: ClassVar = {"instruction": "Mine: {{ goal }}"}

    monkeypatch.setattr(registry.agents, "_added", {"own": Own})
    kind = registry.environments.get("chess")
    prompts = AgentHints(prompts=lambda: {"instruction": "The game's: {{ goal }}"})
    monkeypatch.setattr(registry.environments, "_added", {"chess": replace(kind, hints=prompts)})
    view = TaskView("chess", "Chess-v0", "Mate.", VIEW.actions, VIEW.accepted, "north")
    script = Script(act="north")
    perform(made(agent_config("own", *override), view, script), [moment(1)])
    assert script.requests[0].messages[0].text == first


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "{{ nothing }}",
            "agent.prompts.answer_naive: 'nothing' is undefined; available values: guide, reading, ",
        ),
        ("{% if %}", "agent.prompts.answer_naive: "),
        (
            "{{ 1 / 0 }}",
            "agent.prompts.answer_naive: ZeroDivisionError: division by zero; available values: guide, ",
        ),
        ("{{ 1 + example }}", "agent.prompts.answer_naive: TypeError: "),
        (f"{{{{ {'9' * 5000} }}}}", "agent.prompts.answer_naive: ValueError: Exceeds"),
        ("{{ ''.__class__.__mro__ }}", "agent.prompts.answer_naive: access to attribute '__class__'"),
    ],
)
def test_a_prompt_that_cannot_be_rendered_is_one_clear_line(text: str, says: str) -> None:
    config = replace(agent_config("naive"), prompts={"answer_naive": text})
    with pytest.raises(ConfigError) as raised:
        made(agents.resolve(config), VIEW, Script())
    assert str(raised.value).startswith(says)
    assert "\n" not in str(raised.value)


def test_an_unknown_prompt_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="answer_cot"):
        Prompts().render("answer_cott")


def test_a_text_kept_for_further_episodes_is_told_apart_by_all_that_it_is_made_of() -> None:
    mine = Prompts({"loop": "{{ action }} of {{ choices }}"})
    first = {"action": "north", "choices": {"north": "", "wait": ""}}
    for values in (first, {**first, "action": "wait"}, {**first, "choices": {"wait": "", "north": ""}}):
        assert mine.fixed("loop", **values) == mine.render("loop", **values) == mine.fixed("loop", **values)
    other = Prompts({"loop": "{{ action }}, {{ choices }}"})
    assert other.fixed("loop", **first) == other.render("loop", **first) != mine.fixed("loop", **first)


def test_a_misspelt_prompt_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def replacing(agent: str, name: str) -> None:
        agents.resolve(replace(agent_config(agent), prompts={name: "x"}))

    with pytest.raises(ConfigError, match=r"agent\.prompts\.answr_naive: no such prompt; did you mean a"):
        replacing("naive", "answr_naive")
    with pytest.raises(ConfigError, match=r"agent\.prompts\.instruction_nethack: no such prompt; did"):
        replacing("random", "instruction_nethack")
    replacing("naive", "advice_minihack")  # has no file, and is asked for where it is given

    class Planner(BaseAgent):
        own_prompts: ClassVar = {"plan": "Your plan: {{ plan }}"}

    monkeypatch.setattr(registry.agents, "_added", {"planner": Planner})
    replacing("planner", "plan")
    with pytest.raises(ConfigError, match=r"agent\.prompts\.plann: no such prompt; did you mean plan"):
        replacing("planner", "plann")


def test_every_prompt_file_has_a_hash() -> None:
    kinds = [kind_of("nle"), kind_of("minihack")]
    own = {"instruction_nle", "advice_nle", "warning_nle", "instruction_minihack"}
    shared = {f"netplay_{name}_{kind.name}" for name in ("context", "guide") for kind in kinds}
    assert set(fingerprint(kinds)) == {*names(), *own, *shared}
    assert len(set(fingerprint(kinds).values())) == len(names()) + len(own) + len(shared) // 2


def random_presses(view: TaskView, seed: int, count: int) -> list[object]:
    program = program_of("random").make(Begin(None, {}, view, seed, {}))
    return [*islice(program, count)]


def test_the_random_player_depends_on_its_seed_alone() -> None:
    first, again, other = (random_presses(VIEW, seed, 50) for seed in (1, 1, 2))
    assert first == again != other
    assert set(first) == set(VIEW.actions)


def test_the_random_player_draws_what_balrog_takes_and_otherwise_what_it_always_drew() -> None:
    def drawn(kind: str, count: int) -> list[object]:
        actions = nethack_actions(kind)
        view = TaskView("nle", "x", "", actions.advertised, frozenset(actions.keys), "wait")
        return random_presses(view, 7, count)

    assert drawn("full", 7) == ["loot", "more", "quiver", "southwest", "far east", "space", "far northeast"]
    assert set(drawn("balrog", 2000)) == {*nethack_actions("balrog").advertised} - REFUSED_BY_BALROG
