"""What may be submitted, what is said about it, and which settings the harness card lists."""

import shutil

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest, plain
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import End
from balrog_rag.results.leaderboard import harness, verified
from balrog_rag.results.leaderboard.off_plan import off_plan
from balrog_rag.results.leaderboard.submission import (
    Metadata,
    check,
    miscounted,
    name_of,
    objections,
    player_of,
    refuse_incomplete,
    submit,
)
from balrog_rag.results.run_folder import journals, write_json
from balrog_rag.results.runs import LoadedRun, load
from balrog_rag.results.summary import summarise, write_all
from tests.results.conftest import NETHACK, RunBuilder

GOOD = Metadata("Mine", True, None, False, "2026-11-21")
PROTOCOL = {"env": {"tasks": [NETHACK, "minihack/A", "minihack/B"], "episodes": 2}}


def planned(run):
    """The specs that the journals contain, as if the configuration planned them."""
    return [journal.read(path).header.spec for path in journals(run.folder)]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"name": ""}, None),
        ({"name": "Agënt 2, «β»"}, None),
        ({"name": "  "}, "invalid name"),
        ({"name": "a\nb"}, "invalid name"),
        ({"name": "a\x1b[31m"}, "invalid name"),
        ({"date": "2028-02-29"}, None),
        ({"date": "2027-02-29"}, "invalid date"),
        ({"date": ""}, "invalid date"),
    ],
)
def test_metadata_are_a_printable_name_and_a_day_that_there_is(change, problem):
    fields = {"name": "Mine", "oss": True, "site": None, "verified": False, "date": "2026-11-21"}
    if problem is None:
        check(Metadata(**fields | change))
        return
    with pytest.raises(ConfigError, match=problem):
        check(Metadata(**fields | change))


@pytest.mark.parametrize(
    ("agent", "model", "asked", "name", "player"),
    [
        ("cot", "gpt-4o", True, "20261121_cot_rag_gpt-4o", "cot_rag gpt-4o"),
        ("cot", "meta/llama-3.1:8b", True, "20261121_cot_rag_llama-3.1-8b", "cot_rag meta/llama-3.1:8b"),
        ("my agent", "m", True, "20261121_my-agent_rag_m", "my agent_rag m"),
        ("../up", "m", True, "20261121_..-up_rag_m", "../up_rag m"),
        ("bot", "m", False, "20261121_bot_rag", "bot_rag"),
    ],
)
def test_a_submissions_folder_is_named_by_day_agent_and_the_model_if_one_was_asked(
    new_run, agent, model, asked, name, player
):
    run = new_run("r", agent=agent, model=model)
    if asked:
        run.nethack(0, [{}])
    else:
        run.write(f"{NETHACK}/00", [End("died", 0)])
    summary = summarise(load(run.path))
    assert name_of(summary, "2026-11-21") == name
    assert player_of(summary.run.episodes) == player


@pytest.mark.parametrize(
    ("episodes", "said"),
    [
        ({"nle/NetHackChallenge-v0": 2, "minihack/A": 2, "minihack/B": 2}, []),
        ({"minihack/A": 3, "minihack/B": 1}, ["minihack/A: 3 episodes; BALROG plays 2",
                                              "minihack/B: 1 episode; BALROG plays 2"]),
        ({"minihack/A": 1, "minihack/B": 2}, ["minihack: 3 episodes; BALROG plays 4"]),
        ({"minihack/A": 2, "minihack/C": 2}, ["minihack/C: not a task of BALROG"]),
        ({"babyai/X": 1}, ["babyai/X: not a task of BALROG"]),
        ({"nle/NetHackChallenge-v0": 1}, ["nle: 1 episode; BALROG plays 2"]),
    ],
)  # fmt: skip
def test_other_numbers_of_episodes_than_balrogs_are_named_once(builder, episodes, said):
    for task, count in episodes.items():
        for number in range(count):
            builder.write(f"{task}/{number:02d}", [End("died", 0)])
    assert miscounted(load(builder.path), PROTOCOL) == said


def test_the_number_of_episodes_is_the_kinds_where_the_protocol_has_none(builder):
    for number in range(5):
        builder.nethack(number, [{}])
    assert miscounted(load(builder.path), {"env": {"tasks": [NETHACK], "episodes": None}}) == []


def test_objections_name_missing_games_capped_episodes_and_missing_trajectories(builder):
    builder.nethack(0, [{}], outcome="tokens")
    builder.nethack(1, [{}], outcome="steps")  # the games' own limit is no objection
    path = builder.journal(f"{NETHACK}/00")
    path.with_name(path.name.replace(".journal.jsonl", ".csv")).touch()
    assert objections(load(builder.path), PROTOCOL) == [
        "note: no results for minihack: the board averages the others, so tell its maintainers",
        "note: 1 episodes were ended by a cap on tokens, dollars or time",
        f"note: 1 episodes have no trajectory CSV (run.csv=true writes them), e.g. {NETHACK}/01",
    ]


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (lambda specs: specs, []),
        (lambda specs: specs[:1], [f"{NETHACK}/01: not planned by the configuration"]),
        (lambda specs: [], [f"{NETHACK}/00: not planned by the configuration",
                            f"{NETHACK}/01: not planned by the configuration"]),
    ],
)  # fmt: skip
def test_what_was_played_is_what_was_planned(builder, change, lines):
    for number in range(2):
        builder.nethack(number, [{}])
    run = load(builder.path)
    assert off_plan(run, change(planned(run))) == lines


def test_an_episode_with_another_seed_than_planned_is_named_and_so_is_one_that_is_missing(builder):
    builder.nethack(0, [{}], seed=1)
    wanted = planned(load(builder.path))
    builder.nethack(1, [{}])
    wanted += planned(load(builder.path))[1:]
    builder.nethack(0, [{}], seed=2)
    builder.journal(f"{NETHACK}/01").unlink()
    assert off_plan(load(builder.path), wanted) == [
        f"{NETHACK}/01: missing, although the configuration plans it",
        f"{NETHACK}/00: its game, seeds, limits, agent, model or knowledge differ from the configuration",
    ]


def test_a_planned_episode_that_is_damaged_is_not_called_missing(builder):
    builder.nethack(0, [{}])
    run = load(builder.path)
    wanted = planned(run)
    builder.journal(f"{NETHACK}/00").write_bytes(b"[]\n")
    assert off_plan(load(builder.path), wanted) == []


def cut_off(run):
    run.write(f"{NETHACK}/01", [End("tokens", 0, of_run=True)])


def unfinish(run):
    path = run.journal(run.nethack(1, [{}]))
    path.write_bytes(path.read_bytes()[:-9])


def damage(run):
    run.journal(run.nethack(1, [{}])).write_bytes(b"[]\n")


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (cut_off, "1 episode cut off by a cap of the run; raise limits.run and finish"),
        (unfinish, "1 episode unfinished; finish with balrog-rag resume "),
        (damage, "_run_01.journal.jsonl: line 1 is not a journal entry.*; a submission must be complete"),
        (lambda run: shutil.rmtree(run.path / "nle"), "no finished episode; finish with balrog-rag resume "),
        (lambda run: run.nethack(1, [{}]), r"01: not planned by the configuration \(1 such episodes\)"),
        (lambda run: None, None),
    ],
)  # fmt: skip
def test_only_a_run_that_is_whole_is_handed_in(builder, tmp_path, spoil, problem):
    builder.nethack(0, [{}])
    specs = planned(load(builder.path))
    spoil(builder)
    if problem is None:
        refuse_incomplete(load(builder.path), specs)
        return
    with pytest.raises(RunFolderError, match=problem):
        refuse_incomplete(load(builder.path), specs)


@pytest.fixture(scope="module")
def configs():
    """A real configuration, and BALROG's protocol."""
    words = [f"env.tasks=[{NETHACK}]", "env.episodes=1", "agent=naive", "model=scripted"]
    return plain(compose(words)), plain(compose(["+experiment=balrog", "model=openai"]))


@pytest.fixture
def whole(tmp_path, configs):
    """A run folder of that configuration with one synthetic episode, and the protocol."""
    config, protocol = configs
    run = RunBuilder(tmp_path / "real", agent="naive", retrieval={"enabled": False})
    run.digest = config_digest(config)
    write_json(run.path / "config.json", {"digest": run.digest, "config": config})
    run.nethack(0, [{"depth": 2}])
    return load(run.path), protocol


def test_a_submission_is_whole_or_not_there_at_all(whole, tmp_path):
    run, protocol = whole
    (tmp_path / "out").write_text("a file where the folder should be")
    with pytest.raises(RunFolderError, match="cannot be written"):
        submit(run.folder, tmp_path / "out", GOOD, planned(run), protocol)
    (tmp_path / "out").unlink()
    target, _ = submit(run.folder, tmp_path / "out", GOOD, planned(run), protocol)
    assert target.name == "20261121_naive_scripted"
    assert [path.name for path in (tmp_path / "out").iterdir()] == [target.name]
    with pytest.raises(RunFolderError, match="already exists; remove it or choose another --out"):
        submit(run.folder, tmp_path / "out", GOOD, planned(run), protocol)


def test_drafts_hidden_files_and_recordings_are_not_handed_in(whole, tmp_path):
    run, protocol = whole
    for name in (".secret", "x.tmp", "game.ttyrec3.bz2", "notes.txt"):
        (run.folder / "nle" / name).touch()
    target, _ = submit(run.folder, tmp_path / "out", GOOD, planned(run), protocol)
    found = {path.name for path in (target / "nle").iterdir()}
    assert found == {"nle_summary.json", "NetHackChallenge-v0", "notes.txt"}
    assert not list(target.rglob(".*"))


def test_a_submission_without_a_name_has_its_players(whole, tmp_path):
    run, protocol = whole
    nameless = Metadata("", True, None, False, "2026-11-21")
    target, _ = submit(run.folder, tmp_path / "out", nameless, planned(run), protocol)
    assert (target / "README.md").read_text().startswith("# naive scripted\n")
    assert "name: naive scripted" in (target / "metadata.yaml").read_text()


def test_the_card_lists_a_feature_of_ours_with_all_its_settings_only_if_it_is_on(whole):
    run, protocol = whole
    off = [setting.key for setting in harness.unlike(run, protocol)]
    run.config["agent"]["loops"]["enabled"] = True
    on = [setting for setting in harness.unlike(run, protocol) if setting.key not in off]
    assert {setting.key.rpartition(".")[0] for setting in on} == {"agent.loops"}
    assert len(on) == len(run.config["agent"]["loops"])
    assert {setting.balrogs for setting in on} == {"none"}
    assert not [key for key in off if key.startswith(("agent.loops", "agent.retrieval", "knowledge"))]
    empty = next(key for key in run.config["agent"]["loops"] if key != "enabled")
    run.config["agent"]["loops"][empty] = None
    assert f"agent.loops.{empty}" not in [setting.key for setting in harness.unlike(run, protocol)]


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("temperature", 0.3, True),
        ("name", "other", False),
        ("base_url", "http://127.0.0.1:9/v1", False),
        ("concurrency", 3, False),
        ("options", {"x": 1}, False),
    ],
)
def test_settings_that_say_where_the_model_is_are_not_on_the_card(whole, key, value, named):
    run, protocol = whole
    before = harness.unlike(run, protocol)
    run.config["model"][key] = value
    after = [setting for setting in harness.unlike(run, protocol) if setting not in before]
    assert [setting.key for setting in after] == ([f"model.{key}"] if named else [])


def test_the_model_is_not_on_the_card_of_a_program(whole):
    run, protocol = whole
    for episode in run.episodes:
        episode.calls = {}
    assert not [setting for setting in harness.unlike(run, protocol) if setting.key.startswith("model.")]


def test_prompts_of_the_submitter_are_named_and_counted():
    def said(prompts):
        return harness.words(LoadedRun(None, "", {"agent": {"prompts": prompts}}, [], [], []))

    assert said({}).endswith("in this project's words.")
    assert said({"b": "x", "a": "y"}).endswith("words, except for 2 texts by the submitter: a, b.")


@pytest.mark.parametrize(
    ("kept", "again", "same"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-13}, True),
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": {"b": [1.0]}}, {"a": {"b": [1.0]}}, True),
        ({"a": "1"}, {"a": 1}, False),
        (None, {}, False),
        ([1.0], [1.0 + 1e-13], False),
    ],
)
def test_files_agree_with_journals_up_to_the_rounding_of_their_sums(kept, again, same):
    assert verified._same(kept, again) == same


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        ("summary.json", b"{}", True),
        ("summary.json", None, True),
        ("nle/nle_summary.json", b"[", True),
        ("episodes.csv", b"", True),
        ("notes.txt", b"anything", False),
    ],
)
def test_every_file_that_follows_from_journals_is_compared_with_them(builder, name, content, wrong):
    builder.nethack(0, [{"depth": 2}])
    write_all(builder.path)
    if content is None:
        (builder.path / name).unlink()
    else:
        (builder.path / name).write_bytes(content)
    run = load(builder.path)
    path = builder.path / name
    expected = [f"{path}: does not follow from the journals"] if wrong else []
    assert verified.wrong_files(run, PROTOCOL) == expected


def test_a_run_without_episodes_proves_nothing(builder, monkeypatch, tmp_path):
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))
    write_all(builder.path)
    found = verified.verify(builder.path, [], PROTOCOL, lambda *_: "")
    assert found == [f"{builder.path}: no finished episode"]
    assert not verified.is_verified(builder.path)


def test_a_proof_covers_what_was_verified_and_nothing_else(builder):
    builder.nethack(0, [{}])
    write_all(builder.path)
    before = verified.contents(builder.path)
    (builder.path / "notes.txt").write_text("x")
    (builder.path / "view.html").write_text("x")
    assert verified.contents(builder.path) == before
    for name in ("summary.json", "nle/nle_summary.json", "metadata.yaml", "shard.json"):
        path = builder.path / name
        path.write_bytes((path.read_bytes() if path.exists() else b"") + b" ")
        assert verified.contents(builder.path) != before
        before = verified.contents(builder.path)


def test_card_lines_on_a_terminal_count_the_settings(whole):
    run, protocol = whole
    count = len(harness.unlike(run, protocol))
    lines = harness.terminal_lines(run, protocol)
    assert lines[0] == f"harness card: {count} settings different from BALROG"
    assert len(lines) == count + 2
    assert lines[-1] == f"  {harness.words(run)}"
