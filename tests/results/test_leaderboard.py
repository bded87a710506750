"""Ranks with ties, submissions as BALROG requires them, and verification by replay of real games."""

import json
import shutil

import msgspec
import pytest

from balrog_rag.cli.leaderboard import main
from balrog_rag.config.frozen import config_digest
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.arms import load_arms
from balrog_rag.results.episode_index import read_index, segment_of, write_index
from balrog_rag.results.leaderboard import verified
from balrog_rag.results.leaderboard.against_published import against_published
from balrog_rag.results.leaderboard.published import published
from balrog_rag.results.leaderboard.ranks import ranks
from balrog_rag.results.runs import load
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.results.statistics.verdict import compare
from balrog_rag.results.summary import mean_and_error, write_all
from balrog_rag.util.files import MEGABYTE
from tests.support import command, edit_journal, evaluate, rechained, unstored


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """A separate cache for records of verification."""
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path_factory.mktemp("cache")))


def arm(values):
    return [Score(float(value), "nle") for value in values]


def test_rows_that_cannot_be_told_apart_share_their_ranks():
    near = [1, 2, 3, 4, 5]
    rows = [arm([20, 21, 22, 23, 24, 25] * 4), arm([*near, 6] * 4), arm([*near, 7] * 4), arm([3])]
    assert [rank.text for rank in ranks(rows)] == ["1 to 2", "2 to 4", "2 to 4", "1 to 4"]


def test_published_episodes_give_the_published_figures():
    for row in published().rows:
        for env, reached in row.episodes.items():
            mean, error = mean_and_error([score.value for score in row.scores(env)])
            assert (mean, error, len(reached)) == pytest.approx(row.scored[env], abs=1e-3), row.name


def test_every_published_row_has_a_source():
    known = published()
    assert {row.source for row in known.rows} | {
        row["source"] for rows in known.measured.values() for row in rows
    } <= set(known.sources)
    assert all(row.folder or row.note for row in known.rows)


def test_a_published_row_with_other_episodes_than_balrogs_says_so():
    """Forty of MiniHack are BALROG's; an average over fewer tasks is no neighbour of one over all."""
    odd = {row.name: row.note for row in published().rows if row.scored.get("minihack", (0, 0, 40))[2] != 40}
    assert list(odd) == ["GPT-5-minimal"]
    assert "30 episodes" in odd["GPT-5-minimal"]


def test_the_board_ranks_own_rows_and_quotes_the_others(new_run, tmp_path):
    for name, levels in (("plain", [1, 2] * 4), ("better", [8, 9] * 4)):
        run = new_run(f"runs/{name}", agent=name)
        for number, level in enumerate(levels):
            run.nethack(number, [{"experience_level": level}])
    (tmp_path / "runs/better/view.html").touch()
    assert main(["build", str(tmp_path / "runs"), "--out", str(tmp_path / "out"), "--pages", "none"]) == 0
    rows = msgspec.json.decode((tmp_path / "out/leaderboard.json").read_bytes())
    own = [(row["name"], row["rank"], row["verified"]) for row in rows if row["own"]]
    assert own == [("better", "1", "no"), ("plain", "2", "no")]
    assert [row["own"] for row in rows] == sorted((row["own"] for row in rows), reverse=True)
    quoted = [row["sort"] for row in rows if not row["own"]]
    assert quoted == sorted(quoted, reverse=True)
    page = (tmp_path / "out/leaderboard.html").read_text()
    assert "Gemini-2.0-Flash †" in page
    assert "better_rag / scripted" in page
    assert "plain/view.html" not in page
    assert page.count('href="../runs/better/view.html"') == 2, "its name and its score"
    page = (tmp_path / "out/leaderboard.md").read_text()
    assert "NetPlay unguided / GPT-4 †" in page
    assert "| APPO + BC / NLD-AA, random characters † | 10240 | 1,282.00 ± 275.00 |" in page
    assert "| the dataset's own games / NLD-NAO, random characters † | 1511228 | 127,356.00 |" in page


@pytest.mark.slow
def test_verdicts_against_published_episodes_are_weighed_as_one_family(new_run):
    run = new_run("runs/own")
    for number in range(20):
        run.nethack(number, [{"experience_level": 2 + number % 5}])
    judged = against_published(load_arms([run.path]), "nle")
    own = arm([100 * episode.progression for episode in load(run.path).episodes])
    rows = [row for row in published().rows if row.episodes.get("nle")]
    alone, together = (
        [compare(own, row.scores("nle"), bounds={"nle": Bounds()}, family=size).doubt for row in rows]
        for size in (1, len(rows))
    )
    assert [made.doubt for made in judged] == together
    assert together != alone


def test_an_environment_nobody_played_is_a_mistake(builder, capsys, tmp_path):
    builder.nethack(0, [{}])
    assert main(["build", str(builder.path), "--by", "crafter", "--out", str(tmp_path / "out")]) == 2
    assert "--by crafter: not played by any run; choose nle, average" in capsys.readouterr().err


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A real run: the scripted model plays two short games each of NetHack and MiniHack."""
    top = tmp_path_factory.mktemp("played")
    words = [
        "agent=naive", f"run.folder={top}", "run.name=run",
        "env.episodes=2", "limits.steps=12",
        "env.tasks=[nle/NetHackChallenge-v0,minihack/MiniHack-Corridor-R3-v0]", "env.actions=balrog",
    ]  # fmt: skip
    assert evaluate(*words, cwd=top).returncode == 0
    return top / "run"


@pytest.fixture
def run(played, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(played, tmp_path / "run")


def shown(run, out):
    """The row of this run on the board."""
    assert main(["build", str(run), "--partial", "--out", str(out)]) == 0
    rows = msgspec.json.decode((out / "leaderboard.json").read_bytes())
    (row,) = [row for row in rows if row["own"]]
    return row


def rebuilt(run):
    """The last step of a forgery: recompute every file from the forged journals."""
    write_all(run, use_index=False)


def test_a_real_run_is_proved_by_replay_and_then_shown_as_replayed(run, tmp_path, capsys):
    assert main(["verify", str(run)]) == 0
    assert capsys.readouterr().out.count("equal: ") == 4
    assert shown(run, tmp_path / "out")["verified"] == "replayed"


def test_a_folder_that_cannot_be_read_keeps_no_other_from_being_verified(run, tmp_path, capsys):
    odd = shutil.copytree(run, tmp_path / "odd")
    (odd / "config.json").write_bytes(b"\xff")
    nowhere = tmp_path / "no\x1bwhere"
    assert main(["verify", str(nowhere), str(odd), str(run)]) == 1
    said = capsys.readouterr().out
    assert "no·where: not a run folder" in said
    assert f"differs: {odd / 'config.json'}: not a frozen configuration" in said
    assert f"{odd}: 1 difference\n" in said
    assert said.endswith(f"{run}: verified\n")
    assert "\x1b" not in said


def test_a_proof_is_not_part_of_the_folder(run, tmp_path, monkeypatch):
    before = {path.name for path in run.rglob("*")}
    assert main(["verify", str(run)]) == 0
    assert {path.name for path in run.rglob("*")} <= {*before, ".episodes"}
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "another machine"))
    assert shown(run, tmp_path / "out")["verified"] == "no"


def test_a_proof_is_of_one_version(run, tmp_path, monkeypatch):
    assert main(["verify", str(run)]) == 0
    monkeypatch.setattr(verified, "__version__", "0.0.1")
    assert shown(run, tmp_path / "out")["verified"] == "no"


def test_the_board_reads_journals_and_not_the_index(run, tmp_path):
    assert main(["verify", str(run)]) == 0
    digest = load(run).digest
    (segment,) = read_index(run, digest, MEGABYTE).values()
    made = [(journal, unstored(episode)) for journal, episode in segment.by_journal()]
    for _, episode in made:
        episode.progression = 0.42
    write_index(run, digest, [segment_of("", 0, 0, made)])
    assert load(run).episodes[0].progression == 0.42
    row = shown(run, tmp_path / "out")
    assert (row["verified"], row["sort"]) == ("replayed", 0.0)


TASK = "NetHackChallenge-v0"


def journal_of(run, number=0):
    return run / "nle" / TASK / f"{TASK}_run_{number:02d}.journal.jsonl"


def retell(run, number, change):
    """Replace the spec in a journal's header, with a matching digest."""

    def changed(header):
        change(header["spec"])
        header["spec_digest"] = msgspec.convert(header["spec"], EpisodeSpec).digest

    edit_journal(journal_of(run, number), "header", changed)


def reconfigure(run, change):
    """Replace the configuration, with matching journal headers."""
    config = msgspec.json.decode((run / "config.json").read_bytes())["config"]
    change(config)
    digest = config_digest(config)
    run_folder.write_json(run / "config.json", {"digest": digest, "config": config})
    for path in run.rglob("*.journal.jsonl"):
        edit_journal(path, "header", lambda header: header.update(config_digest=digest))


def claim_a_deeper_level(run):
    path = journal_of(run)
    path.write_bytes(rechained(path.read_bytes().replace(b'"depth":1', b'"depth":9', 1)))
    rebuilt(run)


def claim_another_answer(run):
    path = journal_of(run)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"text":"', b'"text":"x', 1)
    path.write_bytes(rechained(b"".join(lines)))
    rebuilt(run)


def claim_other_facts(run):
    edit_journal(journal_of(run), "end", lambda end: end.update(facts={"death": "ascended to demigod-hood"}))
    rebuilt(run)


def drop_an_episode(run):
    for path in journal_of(run).parent.glob("*_run_01.*"):
        path.unlink()
    rebuilt(run)


def hand_one_in_twice(run):
    shutil.copy(journal_of(run, 0), journal_of(run, 1))
    retell(run, 1, lambda spec: spec.update(episode=f"nle/{TASK}/01"))
    journal_of(run, 1).with_name(f"{TASK}_run_01.csv").unlink()
    rebuilt(run)


def shop_for_seeds(run):
    reconfigure(run, lambda config: config["run"].update(seed=5))
    rebuilt(run)


def claim_more_steps(run):
    reconfigure(run, lambda config: config["limits"].update(steps=None))
    rebuilt(run)


def claim_another_agent(run):
    reconfigure(run, lambda config: config["agent"].update(name="cot"))
    rebuilt(run)


def claim_another_model_in_the_configuration(run):
    reconfigure(run, lambda config: config["model"].update(name="openai/better"))
    rebuilt(run)


def raise_a_score(run):
    path = journal_of(run).with_name("NetHackChallenge-v0_run_00.json")
    path.write_bytes(path.read_bytes().replace(b'"progression": 0.0', b'"progression": 0.9'))


def raise_the_summary(run):
    path = run / "summary.json"
    path.write_bytes(path.read_bytes().replace(b'"average_progress": 0.0', b'"average_progress": 9.0'))


def edit_the_table(run):
    (run / "episodes.csv").write_text("episode,progression_percent\n")


def edit_a_trajectory(run):
    path = journal_of(run).with_name(f"{TASK}_run_00.csv")
    path.write_bytes(path.read_bytes() + b"13,win,,You win,1.0,True\n")


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (claim_a_deeper_level, "first numbers differ"),
        (claim_another_answer, "step 0"),
        (claim_other_facts, "the facts of the end"),
        (drop_an_episode, "01: missing, although the configuration plans it"),
        (hand_one_in_twice, "01: its game, seeds, limits, agent, model or knowledge differ"),
        (shop_for_seeds, "00: its game, seeds, limits"),
        pytest.param(claim_more_steps, "00: its game, seeds, limits", marks=pytest.mark.slow),
        pytest.param(claim_another_agent, "00: its game, seeds, limits", marks=pytest.mark.slow),
        pytest.param(
            claim_another_model_in_the_configuration, "00: its game, seeds, limits", marks=pytest.mark.slow
        ),
        (raise_a_score, "does not follow from the journals"),
        (raise_the_summary, "does not follow from the journals"),
        (edit_the_table, "episodes.csv: does not follow from the journals"),
        (edit_a_trajectory, "differs from the trajectory in its journal"),
    ],
)
def test_a_forged_run_is_found_out_and_is_not_shown_as_replayed(run, tmp_path, forge, told, capsys):
    assert main(["verify", str(run)]) == 0
    forge(run)
    assert shown(run, tmp_path / "out")["verified"] == "no"
    capsys.readouterr()
    assert main(["verify", str(run)]) == 1
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("differs: ")]
    assert any(told in line for line in said), said
    assert shown(run, tmp_path / "out")["verified"] == "no"


def test_who_answered_stands_beside_a_claim_to_another_model(run, tmp_path):
    """Nothing proves which model answered, but what it called itself is shown."""
    assert shown(run, tmp_path / "out")["answered_by"] == ""
    reconfigure(run, lambda config: config["model"].update(name="openai/better"))
    for path in run.rglob("*.journal.jsonl"):

        def claim(header):
            header["spec"]["player"]["model"]["name"] = "openai/better"
            header["spec_digest"] = msgspec.convert(header["spec"], EpisodeSpec).digest

        edit_journal(path, "header", claim)
    rebuilt(run)
    row = shown(run, tmp_path / "out")
    assert (row["model"], row["answered_by"]) == ("openai/better", "scripted")
    assert main(["submit", str(run), "--name", "Mine", "--date", "2026-11-21", "--out", str(tmp_path)]) == 0
    assert main(["submit", str(run), "--date", "2026-11-21", "--out", str(tmp_path / "named")]) == 0
    metadata = (tmp_path / "named/20261121_naive_better/metadata.yaml").read_text()
    assert "name: naive openai/better\n" in metadata
    page = (tmp_path / "20261121_naive_better/README.md").read_text()
    assert "model openai/better (the answering model reported the name scripted)" in page


def test_a_submission_has_balrogs_layout_and_can_be_replayed(run, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["submit", str(run), "--name", "Mine", "--date", "2026-11-21", "--out", str(out)]) == 0
    target = out / "20261121_naive_scripted"
    said = capsys.readouterr().out
    assert str(target) in said
    assert "minihack: 2 episodes; BALROG plays 40" in said
    assert "no results for babyai, crafter, textworld, babaisai" in said
    assert (target / "metadata.yaml").read_text() == (
        "name: Mine\noss: true\nsite: null\nverified: false\ndate: '2026-11-21'\ntrajs: true\n"
    )
    assert sorted(path.name for path in target.iterdir() if path.is_dir()) == ["minihack", "nle"]
    stem = target / "nle/NetHackChallenge-v0/NetHackChallenge-v0_run_00"
    assert stem.with_suffix(".json").is_file()
    assert stem.with_suffix(".csv").is_file()
    assert "balrog-rag leaderboard verify" in (target / "README.md").read_text()
    assert main(["verify", str(target)]) == 0
    card = (target / "harness.md").read_text()
    (target / "harness.md").write_text(card.replace("| 12 | null |", "| null | null |"))
    assert main(["verify", str(target)]) == 1
    assert "harness.md: does not follow from the journals" in capsys.readouterr().out
    (target / "harness.md").write_text(card)
    provenance = (target / "run.json").read_text()
    changed = json.loads(provenance)
    changed["attempts"][0]["versions"]["nle"] = "9.9"
    (target / "run.json").write_text(json.dumps(changed))
    assert main(["verify", str(target)]) == 1
    assert "run.json: no attempt has the package versions" in capsys.readouterr().out
    (target / "run.json").write_text(provenance)
    (target / "README.md").write_text((target / "README.md").read_text().replace("0.00", "99.0"))
    assert main(["verify", str(target)]) == 1
    assert "README.md: does not follow from the journals" in capsys.readouterr().out


def test_a_submission_carries_no_claim_to_be_verified(run, tmp_path):
    (run / "verified.json").write_text("{}")
    main(["submit", str(run), "--name", "Mine", "--date", "2026-11-21", "--out", str(tmp_path / "out")])
    assert not list((tmp_path / "out").rglob("verified.json"))


def test_the_harness_card_names_every_setting_that_is_not_balrogs(tmp_path, capsys):
    words = [
        "agent=naive", "agent.lenient=true", "agent.batch.size=2", "env.episodes=6", "limits.steps=2",
        f"env.tasks=[nle/{TASK},minihack/MiniHack-Room-5x5-v0]", "env.character=val-dwa-law-fem",
        "env.no_progress=99", "env.skip_more=false", "env.max_steps.nle=500",
        "env.autopickup=false", "env.seeding=fixed", "run.name=odd", "agent.prompts.closing=Go",
    ]  # fmt: skip
    assert evaluate(*words, cwd=tmp_path).returncode == 0
    run, out = tmp_path / "results/odd", tmp_path / "out"
    assert main(["submit", str(run), "--name", "Odd", "--date", "2026-11-21", "--out", str(out)]) == 0
    said = capsys.readouterr().out.splitlines()
    start = said.index("harness card: 20 settings different from BALROG")
    assert said[start + 1 : start + 22] == [
        "  agent.batch.low: 0.5 (BALROG: 0.5)",
        "  agent.batch.size: 2 (BALROG: 1)",
        "  agent.lenient: true (BALROG: false)",
        "  env.max_steps.nle: 500 (BALROG: 100000)",
        "  env.options.minihack.actions: full (BALROG: balrog)",
        "  env.options.minihack.autopickup: false (BALROG: null)",
        "  env.options.minihack.character: val-dwa-law-fem (BALROG: @)",
        "  env.options.minihack.no_progress: 99 (BALROG: 150)",
        "  env.options.minihack.skip_more: false (BALROG: true)",
        "  env.options.nle.actions: full (BALROG: balrog)",
        "  env.options.nle.autopickup: false (BALROG: null)",
        "  env.options.nle.character: val-dwa-law-fem (BALROG: @)",
        "  env.options.nle.no_progress: 99 (BALROG: 150)",
        "  env.options.nle.skip_more: false (BALROG: true)",
        "  env.seeding: fixed (BALROG: balrog)",
        "  limits.steps: 2 (BALROG: null)",
        "  model.content: text (BALROG: parts)",
        "  model.context: 1000000 (BALROG: null)",
        "  model.max_tokens: 4096 (BALROG: 8192)",
        "  model.temperature: null (BALROG: 1.0)",
        "  Instructions, lists of actions and prompts are in this project's words, except for 1 text by "
        "the submitter: closing.",
    ]
    assert "note: nle: 6 episodes; BALROG plays 5" in said
    assert "note: minihack/MiniHack-Room-5x5-v0: not a task of BALROG" in said
    page = (out / "20261121_naive_scripted/harness.md").read_text()
    assert "| env.options.nle.no\\_progress | 99 | 150 |" in page
    assert "- nle: 6 episodes; BALROG plays 5" in page
    assert "balrog-nle 0.9.0" in page


@pytest.mark.slow
def test_a_run_of_balrogs_experiment_has_an_empty_card_and_what_it_adds_is_on_it(tmp_path, capsys):
    task = "env.tasks=[minihack/MiniHack-Corridor-R3-v0]"
    for name, words in {"stock": ["agent=cot"], "rag": ["agent=naive_rag", "model.temperature=0"]}.items():
        words = ["+experiment=balrog", *words, task, "env.episodes=1", "env.max_steps.minihack=2"]
        assert evaluate(*words, f"run.name={name}", cwd=tmp_path).returncode == 0
    cards = {}
    for name in ("stock", "rag"):
        run = str(tmp_path / "results" / name)
        assert main(["submit", run, "--date", "2026-11-21", "--out", str(tmp_path / name)]) == 0
        said = capsys.readouterr().out
        cards[name] = [line.strip() for line in said.splitlines() if "(BALROG:" in line]
        assert "note: not BALROG's: experiment balrog with " in said
        assert "env.episodes=1 instead of null" in said
    assert cards["stock"] == [
        "env.max_steps.minihack: 2 (BALROG: 100)",
        "model.context: 1000000 (BALROG: null)",
    ]
    assert "agent.retrieval.enabled: true (BALROG: none)" in cards["rag"]
    assert "agent.retrieval.k: 3 (BALROG: none)" in cards["rag"]
    assert "knowledge.index: hybrid (BALROG: none)" in cards["rag"]
    assert "model.temperature: 0.0 (BALROG: 1.0)" in cards["rag"]


def test_a_policy_is_handed_in_without_a_model_it_never_asked(tmp_path, capsys):
    words = ["agent=random", f"env.tasks=[nle/{TASK}]", "env.episodes=1", "limits.steps=5", "run.name=r"]
    assert evaluate(*words, cwd=tmp_path).returncode == 0
    run, out = tmp_path / "results/r", tmp_path / "out"
    assert main(["submit", str(run), "--name", "R", "--date", "2026-11-21", "--out", str(out)]) == 0
    assert "Agent random, without a model" in (out / "20261121_random/README.md").read_text()
    assert shown(run, tmp_path / "board")["model"] == "no model"


def test_a_name_is_one_line_and_inert(run, tmp_path, capsys):
    words = ["--date", "2026-11-21", "--out", str(tmp_path / "out")]
    assert main(["submit", str(run), "--name", "Mine\n# 99 %", *words]) == 2
    assert "--name 'Mine\\n# 99 %': invalid name; use one line" in capsys.readouterr().err
    assert main(["submit", str(run), "--name", "<img src=q onerror=alert(1)>", *words]) == 0
    page = (tmp_path / "out/20261121_naive_scripted/README.md").read_text()
    assert page.startswith("# \\<img src=q onerror=alert(1)\\>\n")


def test_a_fork_is_neither_ranked_nor_handed_in(run, tmp_path, capsys):
    fork = tmp_path / "fork"
    words = ["--at", "3", "--out", str(fork), "agent=cot"]
    assert command("balrog_rag.episode", "fork", str(journal_of(run)), *words, cwd=tmp_path).returncode == 0
    assert main(["verify", str(fork)]) == 0
    assert main(["build", str(run), str(fork), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "note: fork (forked): not ranked" in said
    rows = msgspec.json.decode((tmp_path / "out/leaderboard.json").read_bytes())
    assert [row["name"] for row in rows if row["own"]] == ["run"]
    assert main(["submit", str(fork), "--name", "Mine", "--out", str(tmp_path / "handed")]) == 1
    assert "forked;" in capsys.readouterr().err
    (fork / run_folder.FORKED).unlink()
    assert main(["verify", str(fork)]) == 1


def test_the_board_says_what_is_left_out(run, tmp_path, capsys):
    drop_an_episode(run)
    shown(run, tmp_path / "out")
    assert "note: run: 1 of 4 episodes missing\n" in capsys.readouterr().out
    assert "1 of 4 episodes missing" in (tmp_path / "out/leaderboard.html").read_text()


def test_a_submission_counts_up_as_the_board_counts(run, tmp_path):
    """The board reads every .json below an environment's folder but its summary."""
    main(["submit", str(run), "--name", "Mine", "--date", "2026-11-21", "--out", str(tmp_path)])
    target = tmp_path / "20261121_naive_scripted"
    found = {}
    for env in (path for path in target.iterdir() if path.is_dir()):
        for path in env.rglob("*.json"):
            if not path.name.endswith("_summary.json"):
                found.setdefault(env.name, []).append(msgspec.json.decode(path.read_bytes())["progression"])
    summary = msgspec.json.decode((target / "summary.json").read_bytes())
    assert {env: len(values) for env, values in found.items()} == {"nle": 2, "minihack": 2}
    for env, values in found.items():
        assert summary["environments"][env]["progression_percentage"] == 100 * sum(values) / len(values)


@pytest.mark.parametrize(
    ("break_it", "problem"),
    [
        (lambda run: journal_of(run).write_bytes(journal_of(run).read_bytes()[:-9]), "1 episode unfinished"),
        (lambda run: journal_of(run).write_bytes(b"[]\n[]\n"), "a submission must be complete"),
        (drop_an_episode, "01: missing, although the configuration plans it (1 such episodes)"),
    ],
)
def test_an_incomplete_run_is_not_handed_in(run, tmp_path, capsys, break_it, problem):
    break_it(run)
    assert main(["submit", str(run), "--name", "Mine", "--out", str(tmp_path / "out")]) == 1
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("date", ["21.11.2026", "2026-99-99", "2026-02-29", "20261121", "2026-W01-1", "1"])
def test_a_date_is_a_date(run, tmp_path, capsys, date):
    assert main(["submit", str(run), "--name", "Mine", "--date", date, "--out", str(tmp_path)]) == 2
    assert "invalid date; use YYYY-MM-DD" in capsys.readouterr().err


def test_the_last_digit_of_a_sum_does_not_undo_a_proof(run):
    path = run / "nle/nle_summary.json"
    kept = msgspec.json.decode(path.read_bytes())
    for factor, code in ((1 + 2e-16, 0), (1 + 1e-9, 1)):
        changed = dict(kept, average_steps=kept["average_steps"] * factor)
        path.write_bytes(msgspec.json.encode(changed))
        assert main(["verify", str(run)]) == code
