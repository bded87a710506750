"""What each line of a journal adds to its episode's figures."""

import pytest

from balrog_rag.contracts.data import GameSpec, Passage, Reply, Rise, Seeds, Usage
from balrog_rag.contracts.errors import ConfigError, JournalError
from balrog_rag.episode.journal import VERSION, Completion, End, Header, Lookup, Start, Step
from balrog_rag.episode.spec import EpisodeSpec, Fork, PlayerSpec
from balrog_rag.results.runs import load
from balrog_rag.results.tally import read_episode
from tests.results.conftest import ENCODE, NETHACK
from tests.support import numbers, rechained

NAME = f"{NETHACK}/00"
PASSAGE = (Passage("p", "Newt", "A newt."),)


@pytest.fixture
def told(builder):
    """The episode of a journal with these lines between its start and its end."""

    def made(*entries, end=None, steps=None):
        count = sum(entry.count for entry in entries if isinstance(entry, Step)) if steps is None else steps
        builder.write(NAME, [*entries, end or End("died", count)])
        (episode,) = load(builder.path, use_index=False).episodes
        return episode

    return made


def step(n=0, **fields):
    return Step(n, "north", "north", "o", **fields)


def answer(n=0, purpose="act", **fields):
    return Completion(n, purpose, "r", Reply(**{"text": "north", **fields}))


@pytest.mark.parametrize(
    ("field", "reply", "counted"),
    [
        ("repeats", {"attempts": 1}, 0),
        ("repeats", {"attempts": 4}, 3),
        ("empty", {"text": ""}, 1),
        ("empty", {"text": " "}, 0),
        ("cut", {"finish": "length"}, 1),
        ("cut", {"finish": "content_filter"}, 0),
        ("trimmed", {"trimmed": 7}, 1),
        ("trimmed", {"trimmed": 0}, 0),
        ("unpriced", {"cost": None}, 1),
        ("unpriced", {"cost": 0.0}, 0),
        ("input", {"usage": Usage(11, 5, 3, 2)}, 11),
        ("output", {"usage": Usage(11, 5, 3, 2)}, 5),
        ("cached", {"usage": Usage(11, 5, 3, 2)}, 3),
        ("reasoning", {"usage": Usage(11, 5, 3, 2)}, 2),
    ],
)
def test_what_an_answer_counts_as(told, field, reply, counted):
    episode = told(answer(**reply), step())
    assert getattr(episode.calls["act"], field) == counted
    assert getattr(episode.total, field) == counted
    assert list(episode.calls) == ["act"]


def test_calls_are_summed_by_purpose_and_together(told):
    spent = [
        answer(0, "query", cost=0.25, latency=0.5), answer(0, cost=1.0, latency=2.0), step(0),
        answer(1, cost=2.0, latency=1.0), step(1),
    ]  # fmt: skip
    episode = told(*spent)
    assert {purpose: (calls.count, calls.dollars) for purpose, calls in episode.calls.items()} == {
        "query": (1, 0.25),
        "act": (2, 3.0),
    }
    assert (episode.total.count, episode.total.dollars, episode.seconds) == (3, 3.25, 3.5)


def test_every_name_that_a_server_reports_is_kept_once_in_order_of_appearance(told):
    models = ["b", "a", "", "b", "a"]
    lines = [line for n, model in enumerate(models) for line in (answer(n, model=model), step(n))]
    assert told(*lines).answered_by == ["b", "a"]


@pytest.mark.parametrize(
    ("when", "purposes", "again"),
    [
        ("asked", ["act", "act"], 1),
        ("asked", ["act", "query", "act", "act"], 2),
        ("asked", ["query", "act"], 0),
        ("always", ["act", "act"], 0),
    ],
)
def test_a_second_question_in_one_step_is_retrievals_only_where_the_model_asks_for_it(
    new_run, when, purposes, again
):
    run = new_run(when, retrieval={"enabled": True, "when": when})
    first = [answer(0, purpose, usage=Usage(10, 1)) for purpose in purposes]
    run.write(NAME, [*first, step(0), answer(1), step(1), End("died", 2)])
    (episode,) = load(run.path).episodes
    assert (episode.asked_again.count, episode.asked_again.input) == (again, 10 * again)
    assert episode.total.count == len(purposes) + 1


def test_searches_count_hits_passages_and_distinct_queries(told):
    searches = [
        Lookup(0, "newt", 3, PASSAGE * 2, 0.5), Lookup(0, "newt", 3, (), 0.25), step(0),
        Lookup(1, "dwarf", 3, PASSAGE, 0.25), step(1), step(2),
    ]  # fmt: skip
    found = told(*searches).lookups
    assert (found.count, found.hits, found.passages, found.queries, found.steps, found.seconds) == (
        3,
        2,
        3,
        2,
        2,
        1.0,
    )


def test_notes_are_counted_by_their_word_and_nothing_but_words_and_true(told):
    notes = [
        {"read": "strict", "lookup": "fresh", "loop": True},
        {"read": "strict", "lookup": "reused", "loop": 1},
        {"read": 3, "lookup": None, "loop": "yes"},
        {"read": "none", "lookup": "no passages", "loop": False},
        {"other": "strict", "loop": False},
    ]
    episode = told(*[step(n, notes=each) for n, each in enumerate(notes)])
    assert episode.readings == {"strict": 2, "none": 1}
    assert episode.lookups.ends == {"fresh": 1, "reused": 1, "no passages": 1}
    assert episode.lookups.used == 2
    assert episode.loops == 1


def test_actions_are_counted_as_they_were_taken_or_press_by_press(told):
    episode = told(
        Step(0, "fly", "wait", "o", valid=False),
        Step(1, "fly", "wait", "o", valid=False),
        Step(2, "north", "north", "o", keys=2),
        Step(3, "bot", "bot", "o", keys=3, pressed=(107, 107, "j")),
    )
    assert episode.actions == {"wait": 2, "north": 1, "107": 2, "j": 1}
    assert (episode.invalid, episode.failed_candidates) == (2, ["fly", "fly"])
    assert (episode.steps, episode.keys) == (6, 7)


def test_rewards_add_up(told):
    assert told(step(0, reward=0.5), step(1), step(2, reward=-0.25)).total_reward == 0.25


def test_the_curve_has_a_point_for_each_new_height_and_one_at_the_end(told):
    climb = [answer(0, usage=Usage(90, 10), cost=1.0), step(0, numbers={"depth": 3}),
             answer(1, usage=Usage(90, 10), cost=1.0), step(1, numbers={"depth": 2}),
             answer(2, usage=Usage(90, 10), cost=1.0), step(2, numbers={"depth": 3}),
             answer(3, usage=Usage(90, 10), cost=1.0), step(3, numbers={"depth": 5}), step(4)]  # fmt: skip
    episode = told(*climb)
    assert [(point.step, point.tokens, point.dollars) for point in episode.curve] == [
        (1, 100, 1.0),
        (4, 400, 4.0),
        (5, 400, 4.0),
    ]
    heights = [point.progression for point in episode.curve]
    assert heights[0] < heights[1] == heights[2] == episode.progression


@pytest.mark.parametrize(
    ("by_press", "rises", "deepest"),
    [
        (True, (4,), "Dlvl:4"),
        (False, (4,), "Dlvl:4"),
        (True, (), "Dlvl:2"),
        (True, (0,), "Dlvl:2"),
        (True, (3, 5, 4), "Dlvl:5"),
    ],
)
def test_a_height_reached_within_a_burst_counts_and_numbers_of_an_ended_game_do_not(
    told, by_press, rises, deepest
):
    seen = tuple(Rise(0.0, {"depth": depth, "experience_level": 1}) for depth in rises)
    episode = told(step(0, numbers={"depth": 2}, pressed=(1, 2, 3), rises=seen, by_press=by_press))
    assert episode.highest == deepest
    assert episode.last["depth"] == 2


@pytest.mark.parametrize(
    ("rewards", "by_press", "rises", "solved"),
    [
        ([1.0], False, (), True),
        ([1.0], True, (), False),
        ([-0.5], True, (Rise(1.0),), True),
        ([0.5, 0.5], False, (), False),
    ],
)
def test_a_sum_over_presses_is_not_taken_for_one_press_that_solved_the_task(
    builder, rewards, by_press, rises, solved
):
    """MiniHack's rule is about one reward; half and half of it are not a solved task."""
    steps = [step(n, reward=reward, by_press=by_press, rises=rises) for n, reward in enumerate(rewards)]
    builder.write("minihack/MiniHack-Room-5x5-v0/00", [*steps, End("steps", len(steps))])
    (episode,) = load(builder.path).episodes
    assert (episode.progression == 1.0) == solved


def test_numbers_keep_their_last_value_and_their_greatest(told):
    moved = [{"hp": 5, "gold": 30}, {"hp": 14, "gold": 10}, {}, {"hp": 2}]
    episode = told(*[step(n, numbers=each) for n, each in enumerate(moved)])
    assert [(episode.last[name], episode.most[name]) for name in ("hp", "gold")] == [(2, 14), (10, 30)]


def test_the_course_rises_with_each_new_depth_and_ends_where_the_game_did(told):
    moved = [{"turn": 10, "depth": 2}, {"turn": 20, "depth": 1}, {"turn": 30, "depth": 3}, {"turn": 90}]
    episode = told(*[step(n, numbers=each) for n, each in enumerate(moved)])
    assert episode.course == [(1, 1), (10, 2), (30, 3), (90, 3)]


def test_the_end_says_what_it_says_whoever_counted(told):
    episode = told(step(), end=End("dollars", 1, {"death": "", "x": [1]}, of_run=True))
    assert (episode.outcome, episode.steps, episode.cut, episode.facts) == (
        "dollars",
        1,
        True,
        {"death": "", "x": [1]},
    )
    assert not told(step(), end=End("dollars", 1)).cut


def test_an_episode_that_ended_before_its_first_step_has_one_point_and_no_steps(told):
    episode = told(end=End("tokens", 0))
    assert (episode.steps, episode.actions, episode.calls, len(episode.curve)) == (0, {}, {}, 1)
    assert episode.seconds == 0.0


@pytest.mark.parametrize("lines", [0, 1, 2, 3])
def test_a_journal_without_its_end_is_not_an_episode_yet(builder, lines):
    builder.write(NAME, [step(), End("died", 1)])
    path = builder.journal(NAME)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    assert read_episode(path) is None


def test_a_kind_of_game_that_is_not_installed_stops_with_its_name(builder):
    """Without the plug-in every figure of the run would lack its games."""
    builder.nethack(1, [{"depth": 2}])
    builder.write("chess/Opening-v0/00", [step(), End("died", 1)])
    with pytest.raises(ConfigError, match=r"00.journal.jsonl: unknown environment 'chess'; valid"):
        load(builder.path)


@pytest.mark.parametrize(
    ("forks", "said"),
    [
        ((), ""),
        ((4,), "naive / m0 to step 4"),
        ((4, 9), "naive / m0 to step 4, cot / m1 to step 9"),
    ],
)
def test_every_player_before_the_last_is_named_with_the_step_it_played_to(tmp_path, forks, said):
    def player(place):
        return PlayerSpec({"name": ["naive", "cot", "robust"][place]}, {"name": f"m{place}"}, {})

    game = GameSpec("nle", "NetHackChallenge-v0", Seeds(1, 2))
    made = tuple(Fork(at, player(place)) for place, at in enumerate(forks, 1))
    spec = EpisodeSpec(NAME, game, player(0), forks=made)
    header = Header(VERSION, spec, spec.digest, "c", {})
    lines = [header, Start("o", numbers(depth=1)), step(), End("died", 1)]
    (tmp_path / "j").write_bytes(rechained(b"".join(ENCODE(line) + b"\n" for line in lines)))
    episode = read_episode(tmp_path / "j")
    assert (episode.forked, episode.agent_name) == (said, player(len(forks)).agent["name"])


def test_a_journal_without_the_numbers_that_its_game_is_scored_by_is_left_out_with_the_reason(builder):
    """Anybody may have written it; the other episodes of the folder are still reported."""
    builder.nethack(1, [{"depth": 2}])
    builder.write(NAME, [step(rises=(Rise(0.0, {"depth": 2}),)), End("died", 1)])
    run = load(builder.path)
    assert [episode.number for episode in run.episodes] == ["01"]
    assert [problem.what for problem in run.problems] == [
        "cannot be scored: environment 'nle': progress.see() raised KeyError: 'experience_level'; "
        "the numbers are depth"
    ]


def test_a_problem_is_looked_at_again_since_another_version_may_not_have_it(builder, monkeypatch):
    builder.write(NAME, [step(), End("died", 1)])
    with monkeypatch.context() as older:
        older.setattr("balrog_rag.episode.journal.VERSION", 2)
        assert "journal version 3" in load(builder.path).problems[0].what
    assert load(builder.path).problems == []


def test_a_line_that_is_not_one_is_an_error_and_not_an_open_episode(builder):
    builder.write(NAME, [step(), End("died", 1)])
    path = builder.journal(NAME)
    path.write_bytes(path.read_bytes().replace(b'"t":"step"', b'"t":"stop"'))
    with pytest.raises(JournalError, match="line 3"):
        read_episode(path)
