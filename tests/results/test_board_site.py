"""Certificates, seed rules, seasons and the site of a leaderboard."""

import json
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import balrog_rag
from balrog_rag.cli.leaderboard import main, parser
from balrog_rag.config.frozen import config_digest
from balrog_rag.episode.journal import read_bytes
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.leaderboard.certificate import read_certificate
from balrog_rag.results.leaderboard.site_pages import AVERAGE
from balrog_rag.results.summary import write_all
from tests.support import edit_journal
from tests.viewer.support import new_browser

CORRIDOR = "minihack/MiniHack-Corridor-R3-v0"
WORDS = (
    "env.episodes=2",
    "limits.steps=4",
    "runner.log=none",
    "env.actions=balrog",
    f"env.tasks=[{CORRIDOR}]",
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: an agent with a model, and one without."""
    top = tmp_path_factory.mktemp("board")
    for agent in ("naive", "random"):
        balrog_rag.evaluate(*WORDS, "model=scripted", f"agent={agent}", folder=top / agent)
    return top


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played / "naive", tmp_path / "runs" / "naive")


def certified(run: Path, *words: str) -> tuple[int, dict[str, Any]]:
    out = run.parent.parent / "certificates"
    shutil.rmtree(out, ignore_errors=True)
    code = main(["verify", str(run), "--certificates", str(out), *words])
    (path,) = out.iterdir()
    read_certificate(path)
    return code, json.loads(path.read_text())


def journals(run: Path) -> list[Path]:
    return sorted(run.rglob("*.journal.jsonl"))


def test_a_certificate_is_named_by_its_digest_and_can_be_recomputed_anywhere(
    run: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(run, tmp_path / "elsewhere" / "naive")
    made = []
    for folder in (run, other):
        out = folder.parent.parent / f"certificates of {folder.parent.name}"
        assert main(["verify", str(folder), "--certificates", str(out)]) == 0
        (path,) = out.iterdir()
        made.append((path.name, path.read_bytes()))
    assert made[0] == made[1]
    name, data = made[0]
    assert name == f"{sha256(data).hexdigest()}.json"
    found = json.loads(data)
    assert found["result"] == "verified by replay"
    assert found["command"] == "balrog-rag leaderboard verify naive"
    digests = {each["journal"] for each in found["episodes"].values()}
    assert digests == {sha256(path.read_bytes()).hexdigest() for path in journals(run)}
    assert {"balrog_rag", "nle", "minihack"} <= found["versions"].keys()


def reconfigured(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the configuration, the specs in the journals and everything that follows from them."""
    config = msgspec.json.decode((run / "config.json").read_bytes())["config"]
    change(config)
    digest = config_digest(config)
    run_folder.write_json(run / "config.json", {"digest": digest, "config": config})

    def retold(header: dict[str, Any]) -> None:
        header["config_digest"] = digest
        model = header["spec"]["player"]["model"]
        model["name"] = config["model"]["name"]
        header["spec"]["steps"] = config["limits"]["steps"]
        header["spec_digest"] = msgspec.convert(header["spec"], EpisodeSpec).digest

    for path in journals(run):
        edit_journal(path, "header", retold)
    write_all(run, use_index=False)


def edit_a_screen(run: Path) -> None:
    edit_journal(journals(run)[0], "step", lambda step: step.update(obs="0" * 32))
    write_all(run, use_index=False)


def raise_a_score(run: Path) -> None:
    path = journals(run)[0]
    record = path.with_name(path.name.replace(".journal.jsonl", ".json"))
    record.write_text(record.read_text().replace('"progression": 0.0', '"progression": 1.0'))


def delete_the_worst(run: Path) -> None:
    for path in journals(run)[1].parent.glob("*_run_01.*"):
        path.unlink()
    write_all(run, use_index=False)


def repeat_the_best(run: Path) -> None:
    one, other = journals(run)
    shutil.copy(one, other)
    edit_journal(other, "header", lambda head: head["spec"].update(episode=f"{CORRIDOR}/01"))
    write_all(run, use_index=False)


def play_longer(run: Path) -> None:
    path = journals(run)[0]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], lines[-2], lines[-1]]))
    edit_journal(path, "end", lambda end: end.update(steps=5))  # writes a chain that fits
    write_all(run, use_index=False)


def choose_other_seeds(run: Path) -> None:
    reconfigured(run, lambda config: config["run"].update(seed=5))


@pytest.mark.parametrize(
    ("cheat", "said"),
    [
        (delete_the_worst, "01: missing, although the configuration plans it"),
        (repeat_the_best, "01: its game, seeds, limits, agent, model or knowledge differ"),
        (raise_a_score, "does not follow from the journals"),
        (edit_a_screen, "step 0: obs is"),
        (play_longer, "step"),
        (choose_other_seeds, "00: its game, seeds, limits, agent, model or knowledge differ"),
    ],
)
def test_cheating_is_certified_as_a_difference_and_is_not_ranked(
    cheat: Callable[[Path], None], said: str, run: Path, tmp_path: Path
) -> None:
    cheat(run)
    code, found = certified(run)
    assert (code, found["result"]) == (1, "differs")
    assert any(re.search(said, line) for line in found["differences"]), found["differences"]
    assert str(run) not in json.dumps(found)
    assert site(tmp_path, run) == 0
    rows = rows_of(tmp_path, "minihack")
    assert [row for row in rows if row["submission"] == "naive"] == []
    page = (tmp_path / "site/submissions/naive/index.html").read_text()
    assert "differs from its journals" in page
    assert "does not follow from the recorded answers" in page
    assert "scores follow from" not in page
    assert "Not ranked" in page


METADATA = "name: {name}\noss: true\nsite: null\nverified: true\ndate: '2026-11-26'\n"
"""Its `verified: true` counts nothing."""


def test_another_model_name_is_shown_with_the_name_that_answered(run: Path, tmp_path: Path) -> None:
    """Nothing proves which model answered: the page shows what the model called itself."""
    reconfigured(run, lambda config: config["model"].update(name="openai/better"))
    (run / "metadata.yaml").write_text(METADATA.format(name="Best of all"))
    assert site(tmp_path, run, "--no-verify") == 0
    page = (tmp_path / "site/submissions/naive/index.html").read_text()
    assert "the answering model called itself scripted" in page
    assert "its name does not mention the model of its journals, openai/better" in page
    (row,) = [row for row in rows_of(tmp_path, "minihack") if row["submission"]]
    assert (row["model"], row["state"]) == (
        "openai/better",
        "journals present",
    )


def test_more_steps_in_the_configuration_are_on_the_card_and_ranked_apart(
    run: Path, played: Path, tmp_path: Path
) -> None:
    reconfigured(run, lambda config: config["limits"].update(steps=40))
    assert site(tmp_path, run, played / "random", "--no-verify") == 0
    rows = [row for row in rows_of(tmp_path, "minihack") if row["submission"]]
    assert {row["submission"]: row["group"] for row in rows} == {
        "naive": "limits.steps=40",
        "random": "limits.steps=4",
    }
    assert "limits.steps" in (tmp_path / "site/submissions/naive/index.html").read_text()


def site(place: Path, *words: Path | str) -> int:
    return main(["site", *map(str, words), "--no-view", "--out", str(place / "site")])


def rows_of(place: Path, env: str) -> list[dict[str, Any]]:
    return [row for row in json.loads((place / "site/data.json").read_text()) if row["by"] == env]


def test_a_run_seed_that_the_board_fixes_is_required(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = certified(run, "--run-seed", "0")
    assert (code, found["seeds"]["violations"]) == (0, [])
    assert found["command"].endswith("--run-seed 0")
    code, found = certified(run, "--run-seed", "3")
    assert (code, found["result"]) == (
        1,
        "verified by replay",
    )  # only the seeds are not the board's
    assert found["seeds"]["violations"] == ["run.seed is 0; the board's is 3, so the seeds were chosen"]
    assert "differs: " in capsys.readouterr().out


def played_with(place: Path, *words: str) -> Path:
    return balrog_rag.evaluate(*WORDS, "agent=random", *words, folder=place / "listed").folder


def test_seeds_of_a_list_are_the_submitters_choice_and_repeated_games_are_named(tmp_path: Path) -> None:
    run = played_with(tmp_path, "env.seeding=list", "env.seeds=[7,7]")
    assert certified(run)[0] == 0
    code, found = certified(run, "--run-seed", "0")
    assert code == 1
    assert found["seeds"]["violations"] == [
        "env.seeding=list: the seeds were chosen; the board's follow from run.seed",
        f"{CORRIDOR}: 2 episodes play one game",
    ]
    assert site(tmp_path, run) == 0
    page = (tmp_path / "site/submissions/listed/index.html").read_text()
    assert "games chosen by the submitter (env.seeding=list)" in page
    assert "2 episodes play one game" in page


def test_a_season_commits_to_seeds_and_is_checked_after_it_is_revealed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret, public, revealed = (
        tmp_path / name for name in ("secret.json", "winter.json", "winter.revealed.json")
    )
    season = ["--secret", str(secret), "--out", str(public)]
    assert main(["season", "commit", "winter", "--count", "2", *season]) == 0
    announced = json.loads(public.read_text())
    seeds = json.loads(secret.read_text())["seeds"]
    assert len(set(seeds)) == 2
    assert not any(str(seed) in public.read_text() for seed in seeds)
    assert secret.stat().st_mode & 0o077 == 0
    assert main(["season", "commit", "winter", "--count", "2", *season]) == 2
    assert "a season's seeds are drawn once" in capsys.readouterr().err
    assert (
        main(["season", "reveal", "--secret", str(secret), "--season", str(public), "--out", str(revealed)])
        == 0
    )
    words = capsys.readouterr().out.splitlines()[-1].split()
    run = played_with(tmp_path, *words)
    both = ("--season", str(public), "--revealed", str(revealed))
    code, found = certified(run, *both)
    assert (code, found["seeds"]["violations"]) == (0, [])
    assert announced["commitment"] in found["seeds"]["chosen by"]
    assert site(tmp_path, run, *both) == 0
    assert announced["commitment"] in (tmp_path / "site/index.html").read_text()

    shown = json.loads(revealed.read_text())
    revealed.write_text(json.dumps({**shown, "seeds": [shown["seeds"][0], 12345]}))
    assert main(["verify", str(run), *both]) == 2
    assert "its seeds and salt have the digest" in capsys.readouterr().err
    # An organiser who announces again, to seeds drawn later, has another commitment than the one published.
    forged = shown | {"seeds": [1, 2], "commitment": announced["commitment"]}
    revealed.write_text(json.dumps(forged))
    assert main(["verify", str(run), *both]) == 2
    assert main(["verify", str(run), "--season", str(public)]) == 2
    assert "--season and --revealed: pass both" in capsys.readouterr().err


def test_games_that_a_season_does_not_have_are_found(run: Path, tmp_path: Path) -> None:
    secret, public, revealed = (tmp_path / name for name in ("s.json", "p.json", "r.json"))
    main(["season", "commit", "spring", "--count", "2", "--secret", str(secret), "--out", str(public)])
    main(["season", "reveal", "--secret", str(secret), "--season", str(public), "--out", str(revealed)])
    code, found = certified(run, "--season", str(public), "--revealed", str(revealed))
    assert code == 1
    assert found["seeds"]["violations"] == ["env.seeds: not the seeds of season spring in its order"]


def test_a_site_ranks_by_environment_beside_published_figures(
    run: Path, played: Path, tmp_path: Path
) -> None:
    numbers = tmp_path / "20260101_naive_other"
    numbers.mkdir()
    summary = {
        "environments": {
            "minihack": {"progression_percentage": 50.0, "standard_error": 8.0, "episodes_played": 40}
        },
        "agent": {"type": "naive"},
        "client": {"model_id": "other"},
    }
    (numbers / "summary.json").write_text(json.dumps(summary))
    (numbers / "metadata.yaml").write_text(METADATA.format(name="<b>Other</b>"))
    assert site(tmp_path, run, played / "random", numbers) == 0
    rows = rows_of(tmp_path, "minihack")
    own = {row["submission"]: row for row in rows if row["group"] == ""}
    assert {name: (row["rank"], row["episodes"], row["state"]) for name, row in own.items()} == {
        "naive": ("1 to 2", 2, "verified by replay"),
        "random": ("1 to 2", 2, "verified by replay"),
    }
    quoted = [row for row in rows if row["group"] == "not ranked: numbers only"]
    assert all((row["rank"], row["state"]) == ("", "numbers only") for row in quoted)
    assert ("<b>Other</b>", 50.0, "") in [(row["name"], row["mean"], row["source"]) for row in quoted]
    assert {row["source"] for row in quoted} >= {"board", ""}
    assert [
        row for row in json.loads((tmp_path / "site/data.json").read_text()) if row["by"] == AVERAGE
    ] == []
    index = (tmp_path / "site/index.html").read_text()
    assert "&lt;b&gt;Other&lt;/b&gt;" in index
    assert "<b>Other" not in index
    for row in own.values():
        assert (tmp_path / "site/certificates" / row["certificate"]).exists()
        assert f'href="certificates/{row["certificate"]}"' in index
    card = (tmp_path / "site/submissions/naive/index.html").read_text()
    for said in ("limits.steps", "Harness card", "nle 1.3", "run.seed=0, which the submitter chose"):
        assert said in card
    assert "limits.against" not in card  # what is not limited is no condition
    assert "<td>not set</td>" in card
    assert "<td>null" not in card


def test_averages_without_numbers_of_episodes_have_no_column_for_them(tmp_path: Path) -> None:
    words = [word for word in WORDS if not word.startswith("env.tasks")]
    tasks = f"env.tasks=[{CORRIDOR},babyai/BabyAI-MixedTrainLocal-v0/goto]"
    run = balrog_rag.evaluate(*words, tasks, "agent=random", folder=tmp_path / "both").folder
    assert site(tmp_path, run, "--no-verify") == 0
    heads = {
        part.split('"')[0]: re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", part.split('class="quoted"')[1])
        for part in (tmp_path / "site/index.html").read_text().split('<section data-by="')[1:]
        if 'class="quoted"' in part
    }
    assert heads[AVERAGE] == ["submission", "mean", "standard error", "source"]
    assert heads["minihack"] == ["submission", "mean", "standard error", "n", "source"]


@pytest.mark.parametrize("name", ["config.json", "shard.json", "forked.json"])
def test_a_file_that_is_nested_too_deeply_is_one_line(
    name: str, run: Path, played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).write_bytes(b'{"a":' * 100_000)
    assert site(tmp_path, run, played / "random", "--no-verify") == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"left out: {run / name}: "), first
    assert last.endswith("(1 submission)")


def test_packed_journals_are_certified_as_the_files_they_were(tmp_path: Path) -> None:
    run = played_with(tmp_path, "run.pack=2")
    assert journals(run) == []
    code, found = certified(run)
    assert (code, found["result"], len(found["episodes"])) == (0, "verified by replay", 2)
    for name, episode in found["episodes"].items():
        data = read_bytes(run_folder.journal_path(run, name))
        assert episode["journal"] == sha256(data).hexdigest()


def test_of_submissions_with_the_same_journal_none_is_ranked(run: Path, played: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(run, tmp_path / "a copy that is listed first")
    assert site(tmp_path, copied, run, played / "random", "--no-verify") == 0
    assert [row["submission"] for row in rows_of(tmp_path, "minihack") if row["submission"]] == ["random"]
    page = (tmp_path / "site/index.html").read_text()
    assert "its journal is also in naive" in page
    assert "its journal is also in a-copy-that-is-listed-first" in page


def test_an_unreadable_submission_keeps_no_other_from_the_site(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert site(tmp_path, empty, run, "--no-verify") == 1
    assert f"left out: {empty}: neither config.json nor BALROG's summary.json" in capsys.readouterr().out
    assert [row["submission"] for row in rows_of(tmp_path, "minihack") if row["submission"]] == ["naive"]


HOSTILE = {
    "nested JSON": ("summary.json", '{"environments":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "progression above 100": ("summary.json", '{"environments":{"nle":{"progression_percentage":1e308}}}'),
    "negative progression": ("summary.json", '{"environments":{"nle":{"progression_percentage":-1}}}'),
    "an endless number of episodes": (
        "summary.json",
        '{"environments":{"nle":{"progression_percentage":5,"episodes_played":9000000000000000}}}',
    ),
    "no environment": ("summary.json", '{"environments":{}}'),
    "many environments": (
        "summary.json",
        json.dumps({"environments": {str(number): {"progression_percentage": 5} for number in range(51)}}),
    ),
    "a long name": (
        "summary.json",
        json.dumps({"environments": {"x" * 101: {"progression_percentage": 5}}}),
    ),
    "nested configuration": ("config.json", '{"config":' + "[" * 100_000 + "]" * 100_000 + "}"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_submission_is_left_out_in_one_line_and_costs_no_other(
    how: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, content = HOSTILE[how]
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / name).write_text(content)
    assert site(tmp_path, bad, run, "--no-verify") == 1
    said = capsys.readouterr()
    (line,) = [line for line in said.out.splitlines() if line.startswith("left out: ")]
    assert line.startswith(f"left out: {bad}/{name}: ")
    assert "Traceback" not in said.err
    assert [row["submission"] for row in rows_of(tmp_path, "minihack") if row["submission"]] == ["naive"]


def test_reasons_name_no_folder_of_the_machine(run: Path, tmp_path: Path) -> None:
    (run / "run.json").write_text("{}")
    assert site(tmp_path, run) == 0
    for page in (tmp_path / "site").rglob("*.html"):
        assert str(tmp_path) not in page.read_text()
    said = "run.json: no attempt has the package versions recorded in its journals"
    assert said in (tmp_path / "site/index.html").read_text()


@pytest.mark.parametrize("depth", [200, 200_000])
def test_nested_metadata_end_no_process_and_are_not_believed(run: Path, tmp_path: Path, depth: int) -> None:
    (run / "metadata.yaml").write_text(f"name: {'[' * depth}{']' * depth}\n")
    assert site(tmp_path, run, "--no-verify") == 0
    assert (
        "<td>unknown (as the submitter says)" in (tmp_path / "site/submissions/naive/index.html").read_text()
    )
    assert main(["verify", str(run)]) == 1  # its README does not follow from such a file


def test_hostile_texts_are_shown_as_texts(run: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    script = "<script>alert(1)</script>"
    told = {"environments": {script: {"progression_percentage": 5}}, "agent": {"type": script}}
    (bad / "summary.json").write_text(json.dumps(told | {"client": {"model_id": script * 100}}))
    (bad / "metadata.yaml").write_text(
        yaml.safe_dump({"name": script * 100, "oss": True, "site": None, "verified": True, "date": ""})
    )
    assert site(tmp_path, bad, run, "--no-verify") == 0
    page = (tmp_path / "site/index.html").read_text()
    assert "<script>alert" not in page
    assert 0 < page.count("&lt;script&gt;alert") < 50  # names are shortened
    assert "numbers only" in page


def test_absurd_values_of_a_journal_stay_short_on_the_pages(run: Path, tmp_path: Path) -> None:
    def absurd(entry: dict[str, Any]) -> None:
        entry["reply"].update(cost=1e300, model="m" * 100_000)

    edit_journal(journals(run)[0], "llm", absurd)
    write_all(run, use_index=False)
    assert site(tmp_path, run, "--no-verify") == 0
    for page in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r"[0-9]{50}|m{2000}", page.read_text())
    assert "1e+300" in (tmp_path / "site/submissions/naive/index.html").read_text()


def test_a_site_without_a_readable_submission_replaces_nothing(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert site(tmp_path, run, "--no-verify") == 0
    page = (tmp_path / "site/index.html").read_bytes()
    assert site(tmp_path, tmp_path / "missing") == 2
    said = capsys.readouterr()
    assert f"left out: {tmp_path / 'missing'}: " in said.out
    assert "no submission can be shown, so the site was not written" in said.err
    assert (tmp_path / "site/index.html").read_bytes() == page


@pytest.mark.parametrize("words", [["site", "--out"], ["verify", "--certificates"]])
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_replayed(
    run: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([words[0], str(run), words[1], "/proc/nowhere"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"error: {words[1]} /proc/nowhere: cannot be created (")
    assert "equal:" not in said.out


def test_no_file_of_a_season_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret, public, other = (tmp_path / name for name in ("s.json", "p.json", "o.json"))

    def commit(secret: Path, public: Path) -> int:
        return main(["season", "commit", "w", "--count", "2", "--secret", str(secret), "--out", str(public)])

    assert commit(secret, secret) == 2
    assert "secret and announcement need a file each" in capsys.readouterr().err
    assert commit(secret, public) == 0
    kept = secret.read_bytes(), public.read_bytes()
    assert commit(other, public) == 2
    assert "an announcement is never replaced" in capsys.readouterr().err
    for out in (secret, public):
        words = ["--secret", str(secret), "--season", str(public), "--out", str(out)]
        assert main(["season", "reveal", *words]) == 2
        assert "would replace the secret or the announcement" in capsys.readouterr().err
    assert (secret.read_bytes(), public.read_bytes()) == kept
    # Without an announcement there is no secret either, so that the command can be given again.
    assert commit(other, Path("/proc/nowhere")) == 1
    assert not other.exists()
    assert main(["season", "reveal", "--secret", str(other), "--season", str(public), "--out", "x"]) == 2
    assert capsys.readouterr().err.endswith(f"error: {other}: cannot be read (No such file or directory)\n")


@pytest.mark.slow
def test_the_site_works_in_a_browser_without_a_server(run: Path, played: Path, tmp_path: Path) -> None:
    assert main(["site", str(run), str(played / "random"), "--out", str(tmp_path / "site")]) == 0
    browser = new_browser()
    try:
        check_filters(browser, tmp_path / "site")
    finally:
        browser.close()


def check_filters(browser: Any, site: Path) -> None:
    driver = browser.driver
    driver.get((site / "index.html").as_uri())

    def shown() -> list[str]:
        rows = driver.find_elements("css selector", 'section[data-by="minihack"] table tr[data-state]')
        names = [row.find_element("css selector", "th").text for row in rows if row.is_displayed()]
        return [name.split("\n")[0] for name in names]

    assert {"naive", "random"} <= set(shown())
    driver.execute_script(
        "const s = document.querySelector('[name=tools]'); s.value = 'without';"
        "s.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert "naive" in shown()
    assert "random" not in shown()  # a program that plays
    browser.size(400)
    assert browser.js("document.documentElement.scrollWidth <= window.innerWidth")
    driver.find_element("link text", "naive").click()
    driver.find_element("link text", f"{CORRIDOR}/01").click()
    browser.wait("location.hash.startsWith('#episode=') && document.querySelector('.screen pre') !== null")
    assert [line for line in driver.get_log("browser") if line["level"] == "SEVERE"] == []


WORKFLOW = Path(__file__).parents[2] / "examples/leaderboard/publish.yml"


def test_the_workflow_that_publishes_a_site_uses_commands_that_exist() -> None:
    steps = [step for job in yaml.safe_load(WORKFLOW.read_text())["jobs"].values() for step in job["steps"]]
    lines = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    commands = [line.split() for line in lines if line.startswith("balrog-rag leaderboard")]
    assert [words[2] for words in commands] == ["site"]
    for words in commands:
        found = parser().parse_args([word.strip('"') for word in words[2:]])
        assert found.out == Path("site")
    (uploaded,) = [step["with"]["path"] for step in steps if "upload-pages" in step.get("uses", "")]
    assert uploaded == "site"
