"""An experiment is played arm by arm into one folder; every output states how it departs from it."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from balrog_rag import knowledge
from balrog_rag.cli import compare, leaderboard, report
from balrog_rag.config.compose import compose
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.knowledge.corpus.bringing import import_corpus
from balrog_rag.knowledge.passages import Cut
from balrog_rag.results import experiments
from balrog_rag.results.experiments import departure
from balrog_rag.run.arms_of_words import named
from balrog_rag.run.grid import combinations
from balrog_rag.run.sweep_plan import arm_notes
from tests.support import command, evaluate, own_cache

NOT_THE_PAPERS = "not the paper's: experiment paper_table1 with "
PAGES = {
    "newt": {"title": "newt", "categories": ["Monsters"], "raw_text": "Newt\nA newt bites. " * 99},
    "stairs": {"title": "stairs", "categories": ["Dungeon"], "raw_text": "Stairs\nThey lead down."},
}


def test_arms_multiply_with_swept_values() -> None:
    names = [run.name for run in combinations(["experiment=paper_table1", "run.seed=1,2"])]
    assert names == [
        "full,run.seed=1",
        "summarised,run.seed=1",
        "full,run.seed=2",
        "summarised,run.seed=2",
    ]


def test_a_preset_without_arms_is_one_run() -> None:
    assert [run.name for run in combinations(["experiment=balrog"])] == ["run"]


def test_an_arm_whose_extra_is_missing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def ladder() -> list[str]:
        return [run.name for run in combinations(["experiment=ladder"])]

    monkeypatch.setattr(experiments, "find_spec", lambda package: None)
    assert ladder() == ["random", "handcrafted", "stairs", "delver"]
    monkeypatch.setattr(experiments, "find_spec", lambda package: package)
    assert ladder()[-1] == "autoascend"


def test_the_first_table_holds_players_above_a_models_first_steps() -> None:
    names = [run.name for run in combinations(["experiment=quickstart"])]
    assert names == ["random", "handcrafted", "stairs", "delver", "embedded"]


@pytest.mark.parametrize(
    ("words", "names", "said"),
    [
        (
            "ladder model=openai",
            ["random", "handcrafted", "stairs", "delver"],
            ["autoascend skipped: its extra is not installed; pip install 'balrog_rag[autoascend]'"],
        ),
        (
            "ladder agent=delver",
            ["stairs", "delver"],
            ["agent=delver: of ladder only stairs, delver are played"],
        ),
        ("ladder agent=random", ["random"], ["agent=random: of ladder only random is played"]),
        (
            "ladder agent=naive",
            ["agent=naive"],
            ["agent=naive: no arm of ladder has it; it is played alone, in the same games"],
        ),
        (
            "ladder agent=naive,random",
            ["agent=naive", "random,agent=random"],
            [
                "agent=naive: no arm of ladder has it; it is played alone, in the same games",
                "agent=random: of ladder only random is played",
            ],
        ),
        ("retrieval_k agent=robust_star_rag", ["k1", "k3", "k5", "k10"], []),
        (
            "corpora knowledge.corpus=spoilers",
            ["none", "embedded", "minihack", "nethackwiki"],
            [
                "knowledge.corpus=spoilers: not used by embedded, minihack, nethackwiki, which have their "
                "own knowledge.corpus"
            ],
        ),
        (
            "quickstart limits.steps=9",
            ["random", "handcrafted", "stairs", "delver", "embedded"],
            ["limits.steps=9: not used by embedded, which has its own limits.steps"],
        ),
    ],
)
def test_what_an_arm_sets_itself_picks_arms_or_is_played_alone(
    words: str, names: list[str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "find_spec", lambda package: None)
    given = f"+experiment={words}".split()
    assert [run.name for run in combinations(given)] == names
    assert arm_notes(given) == said


def test_one_of_ones_own_has_what_all_arms_share() -> None:
    (run,) = combinations(["+experiment=history_lengths", "model=scripted", "agent.max_text_history=2"])
    config = named(compose(run.words), run.words, run.arm)
    assert (run.name, config.agent.name) == ("agent.max_text_history=2", "cot")
    assert config.run.departures == ["agent.max_text_history=2, which no arm of it has"]


def test_a_word_that_no_arm_would_heed_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"every arm of netplay_full sets env\.episodes itself; leave it out"
    ):
        combinations(["+experiment=netplay_full", "env.episodes=5"])


@pytest.fixture
def papers_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Imports a file with this many pages in the form of the paper's."""
    monkeypatch.setenv("BALROG_RAG_CACHE", str(own_cache(tmp_path / "cache")))

    def bring(pages: int) -> None:
        store = {f"p{n}": {"title": f"p{n}", "raw_text": f"Page {n}."} for n in range(pages)}
        (tmp_path / "store.json").write_text(json.dumps(store))
        import_corpus("minihack", tmp_path / "store.json", Cut(0))
        knowledge._corpus.cache_clear()

    return bring


def departures(arm: str, *words: str) -> list[str]:
    run = next(run for run in combinations(["+experiment=paper_table1", "model=scripted", *words]))
    assert run.arm == arm
    return named(compose(run.words), run.words, run.arm).run.departures


def test_a_run_of_the_papers_configuration_departs_in_nothing(papers_file: Callable[[int], None]) -> None:
    papers_file(3111)
    free = [
        "model.name=x",
        "run.seed=3",
        "runner.workers=1",
        "limits.run.dollars=5",
        "model.retry.attempts=2",
    ]
    assert departures("full") == departures("full", *free) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["env.seeding=spread", "env.seeds=[]"], "env.seeding=spread instead of fixed"),
        (["limits.steps=9"], "limits.steps=9 instead of null"),
        (["model.temperature=1"], "model.temperature=1.0 instead of 0.0"),
        (["agent.lenient=true"], "agent.lenient=true instead of false"),
        (["knowledge=embedded"], "knowledge.corpus=embedded instead of minihack"),
        (["knowledge.index=hnsw"], "knowledge.index=hnsw instead of flat_l2"),
    ],
)
def test_every_other_setting_is_named(
    papers_file: Callable[[int], None], words: list[str], said: str
) -> None:
    papers_file(3111)
    assert said in departures("full", *words)


def test_a_corpus_that_does_not_hold_what_the_papers_did_is_named(papers_file: Callable[[int], None]) -> None:
    papers_file(40)
    assert departures("full") == ["40 passages in knowledge.corpus=minihack instead of 3,111"]


def test_an_arm_that_retrieves_nothing_has_no_other_knowledge() -> None:
    words = ["+experiment=paper_figure3", "model=scripted", "knowledge=embedded"]
    arms = [run for run in combinations(words) if run.arm in ("robust_cot", "cot_rag")]
    by_arm = {run.arm: named(compose(run.words), run.words, run.arm).run for run in arms}
    assert not by_arm["robust_cot"].departures
    assert "knowledge.tokens=240 instead of 0" in by_arm["cot_rag"].departures
    assert {run.experiment for run in by_arm.values()} == {"paper_figure3"}


@pytest.mark.parametrize("key", ["run.experiment=paper_table1", "run.departures=[]"])
def test_no_word_can_claim_an_experiment(key: str) -> None:
    with pytest.raises(ConfigError, match=r"use \+experiment=NAME"):
        named(compose([key]), [key])


def test_an_experiment_of_ones_own_claims_to_be_nobodys() -> None:
    config = {"run": {"experiment": "retrieval_k", "departures": ["env.episodes=1 instead of 20"]}}
    assert departure(config) == "experiment retrieval_k with env.episodes=1 instead of 20"
    assert departure({"run": {"experiment": "retrieval_k", "departures": []}}) == departure({}) == ""


def test_without_the_papers_file_it_stops_and_says_how_to_get_it(tmp_path: Path) -> None:
    cache = str(own_cache(tmp_path / "cache"))
    done = evaluate("+experiment=paper_figure3", "run.name=f", cwd=tmp_path, BALROG_RAG_CACHE=cache)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "balrog-rag knowledge corpus fetch minihack" in done.stderr
    assert "knowledge=embedded" in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.fixture(scope="module")
def table1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Table 1, played with another knowledge base."""
    top = tmp_path_factory.mktemp("table1")
    words = (
        "+experiment=paper_table1",
        "knowledge=embedded",
        "env.episodes=1",
        "limits.steps=3",
        "run.name=t",
    )
    done = evaluate(*words, cwd=top)
    assert done.returncode == 0, done.stderr
    assert NOT_THE_PAPERS in " ".join(done.stdout.split())
    return top / "results/t"


def test_an_experiment_plays_every_arm_and_can_be_gone_on_with(table1: Path) -> None:
    for arm in ("full", "summarised"):
        assert (table1 / arm / "summary.json").exists()
    again = command("balrog_rag.eval", f"resume={table1}", cwd=table1.parent)
    assert again.returncode == 0, again.stderr


@pytest.mark.slow
def test_what_is_not_the_papers_says_so_in_every_output(
    table1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert NOT_THE_PAPERS.replace("_", "\\_") in (table1 / "sweep.md").read_text()
    assert NOT_THE_PAPERS in (table1 / "sweep.csv").read_text()
    summary = json.loads((table1 / "full/summary.json").read_text())
    assert summary["experiment"] == "paper_table1"
    assert summary["departure"].startswith(NOT_THE_PAPERS)
    capsys.readouterr()

    assert report.main([str(table1), "--out", str(tmp_path / "report"), "--formats", "html,md"]) == 0
    assert NOT_THE_PAPERS.replace("'", "&#39;") in (tmp_path / "report/report.html").read_text()
    assert NOT_THE_PAPERS.replace("_", "\\_") in (tmp_path / "report/report.md").read_text()
    compare.main([str(table1 / "full"), str(table1 / "summarised")])
    assert NOT_THE_PAPERS in capsys.readouterr().out
    assert leaderboard.main(["build", str(table1), "--out", str(tmp_path / "board")]) == 0
    assert NOT_THE_PAPERS in capsys.readouterr().out
    assert NOT_THE_PAPERS.replace("'", "&#39;") in (tmp_path / "board/leaderboard.html").read_text()
    rows = json.loads((tmp_path / "board/leaderboard.json").read_text())
    assert all(NOT_THE_PAPERS in row["departures"][0] for row in rows if row["own"])


class Shelf(BaseHTTPRequestHandler):
    """A server with the paper's file."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(PAGES, indent=1).encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/processed_wiki_self.json"
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_with_the_papers_file_whole_pages_are_searched(tmp_path: Path, address: str) -> None:
    """Fetched from a server, indexed as in the paper, and shown whole by the arm that is called full."""
    cache = str(own_cache(tmp_path / "cache"))
    fetched = command(
        *("balrog_rag.knowledge", "corpus", "fetch", "minihack", "--from", address),
        cwd=tmp_path,
        BALROG_RAG_CACHE=cache,
    )
    assert fetched.returncode == 0, fetched.stderr
    assert "2 pages, 2 passages" in fetched.stdout
    words = ("+experiment=paper_table1", "env.episodes=1", "limits.steps=1", "run.name=t")
    done = evaluate(*words, cwd=tmp_path, BALROG_RAG_CACHE=cache)
    assert done.returncode == 0, done.stderr
    (journal,) = (tmp_path / "results/t/full").rglob("*.journal.jsonl")
    texts = [
        passage["text"]
        for line in journal.read_text().splitlines()
        if (entry := json.loads(line))["t"] == "search"
        for passage in entry["passages"]
    ]
    assert sorted(texts) == sorted(page["raw_text"].strip() for page in PAGES.values())
    config = json.loads((tmp_path / "results/t/full/config.json").read_text())["config"]
    assert config["knowledge"]["index"] == "flat_l2"
    assert config["run"]["departures"] == [
        "env.episodes=1 instead of 15",
        "limits.steps=1 instead of null",
        "2 passages in knowledge.corpus=minihack instead of 3,111",
    ]
