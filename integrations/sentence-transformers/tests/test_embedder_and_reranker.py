"""Indexes built, searched and reranked through the sentence-transformers package itself."""

import shlex
from pathlib import Path

import numpy as np
import pytest
import random_models
from sentence_transformers import CrossEncoder, SentenceTransformer

from balrog_rag.cli.verbs import main as balrog_rag
from balrog_rag.contracts.errors import ConfigError, KnowledgeError
from balrog_rag.knowledge.config_section import compose
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.opening import index_folder, make_embedder, make_reranker, manifest, open_searcher
from balrog_rag.knowledge.passages import Cut, wording

TOPICS = {
    "lichen": "A lichen sticks to you. Its corpse never rots, so keep it for later.",
    "floating eye": "Never hit a floating eye in melee: you would be paralysed for many turns.",
    "elbereth": "Engrave Elbereth in the dust and most monsters will not attack you in melee.",
    "fountain": "Dipping into a fountain may curse items, or bring water moccasins and a nymph.",
    "sink": "Kick a sink to get a ring, or a black pudding. Do not levitate above one.",
    "prayer": "Pray when you are Weak or below a seventh of your hit points, not too often.",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("models")
    return {
        "small": random_models.embedder(place / "small"),
        "wide": random_models.embedder(place / "wide", width=48),
        "cross": random_models.cross_encoder(place / "cross"),
        "classes": random_models.cross_encoder(place / "classes", outputs=3),
    }


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No index of another test is reused, and no hub is asked."""
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in TOPICS.items():
        (folder / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n", encoding="utf-8")
    return folder


def words(notes: Path, model: Path, *more: str, index: str = "flat_ip") -> list[str]:
    return [
        f"knowledge.corpus={notes}",
        f"knowledge.index={index}",
        "knowledge.embedder=sentence_transformers",
        f"knowledge.options.sentence_transformers.model={model}",
        *("knowledge.prior=null", "knowledge.parts=0", "knowledge.cover=0", "knowledge.passing=[]", *more),
    ]


def texts(notes: Path) -> list[str]:
    return [wording(each) for each in load(str(notes), Cut(240)).passages]


def test_a_search_orders_passages_as_the_package_itself(notes: Path, models: dict[str, Path]) -> None:
    searcher = open_searcher(compose(words(notes, models["small"])))
    real = SentenceTransformer(str(models["small"]), device="cpu")
    passages = real.encode(texts(notes), normalize_embeddings=True)
    for query in ("may I eat the lichen corpse", "sink", "zzz qqq"):
        scores = passages @ real.encode([query], normalize_embeddings=True)[0]
        found = searcher.search([query], len(TOPICS))[0]
        titles = [load(str(notes), Cut(240)).passages[place].title for place in np.argsort(-scores)]
        assert [each.title for each in found] == titles
        assert np.allclose([each.score for each in found], np.sort(scores)[::-1], atol=1e-4)


def test_a_query_has_the_same_vector_alone_and_among_others(notes: Path, models: dict[str, Path]) -> None:
    embedder = make_embedder(compose(words(notes, models["small"])))
    assert embedder is not None
    many = ["a", "a much longer query about floating eyes and lichens", "sink"]
    together = embedder.queries(many)
    assert np.array_equal(together, np.concatenate([embedder.queries([each]) for each in many]))
    assert embedder.queries([]).shape == (0, 32)
    done: list[int] = []
    assert embedder.passages(many * 200, done.append).shape == (600, 32)
    assert sum(done) == 600
    assert len(done) > 1


def test_the_cross_encoder_reorders_the_best(notes: Path, models: dict[str, Path]) -> None:
    cross = [
        "knowledge.reranker=sentence_transformers",
        f"knowledge.options.sentence_transformers.reranking_model={models['cross']}",
        "knowledge.rerank=4",
    ]
    plain = open_searcher(compose(words(notes, models["small"])))
    reranking = open_searcher(compose(words(notes, models["small"], *cross)))
    real = CrossEncoder(str(models["cross"]), device="cpu")
    moved = False
    for query in ("may I eat this", "kick", "a floating eye is adjacent"):
        before = plain.search([query], len(TOPICS))[0]
        after = reranking.search([query], len(TOPICS))[0]
        scores = real.predict([(query, wording(each)) for each in before[:4]], show_progress_bar=False)
        order = np.argsort(-scores, kind="stable")
        assert [each.title for each in after] == [
            *(before[place].title for place in order),
            *(each.title for each in before[4:]),
        ]
        assert np.allclose([each.score for each in after[:4]], scores[order], atol=1e-4)
        moved |= after != before
    assert moved


def test_the_command_builds_and_searches(
    notes: Path, models: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"knowledge.folder={tmp_path / 'index'}"
    chosen = words(notes, models["small"], where, index="hybrid")
    assert balrog_rag(["knowledge", "index", "build", *chosen]) == 0
    assert balrog_rag(["knowledge", "search", "lichen corpse", "-k", "2", "--json", *chosen]) == 0
    assert "Lichen" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["model", "reranking_model"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "no such folder"),
        ("empty", "cannot load it"),
        ("nobody/no-such-model", "cannot load it"),
    ],
)
def test_a_wrong_model_is_one_line_that_names_the_option(
    option: str, name: str, said: str, notes: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    given = name if "/" in name else str(tmp_path / name)
    chosen = [
        *words(notes, models["small"], "knowledge.reranker=sentence_transformers"),
        f"knowledge.options.sentence_transformers.{option}={given}",
    ]
    with pytest.raises(KnowledgeError) as refused:
        make_embedder(compose(chosen)), make_reranker(compose(chosen))
    assert f"knowledge.options.sentence_transformers.{option}={given}: " in str(refused.value)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_model_with_several_outputs_is_no_reranker(notes: Path, models: dict[str, Path]) -> None:
    wrong = f"knowledge.options.sentence_transformers.reranking_model={models['classes']}"
    chosen = words(notes, models["small"], "knowledge.reranker=sentence_transformers", wrong)
    with pytest.raises(ConfigError, match=r"reranking_model=.*has 3 outputs; use a cross-encoder with one"):
        make_reranker(compose(chosen))


def test_an_index_of_another_dimension_is_refused_with_a_command_that_rebuilds_it(
    notes: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    where = f"knowledge.folder={tmp_path / 'index'}"
    prefix = "knowledge.options.sentence_transformers.passage_prefix='passage: '"
    assert balrog_rag(["knowledge", "index", "build", *words(notes, models["small"], where)]) == 0
    chosen = words(notes, models["wide"], where, prefix)
    with pytest.raises(KnowledgeError, match=r"dimensions is 32, not 48.*build it again with") as refused:
        open_searcher(compose(chosen))
    command = str(refused.value).partition("`balrog-rag ")[2].partition("`")[0]
    assert balrog_rag(shlex.split(command)) == 0
    assert len(open_searcher(compose(chosen)).search(["sink"], 2)[0]) == 2


def test_another_model_saved_into_the_same_folder_makes_another_index(
    notes: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    place = random_models.embedder(tmp_path / "own", seed=1)
    config = compose(words(notes, place))
    before = open_searcher(config).search(["sink"], 6)[0]
    random_models.embedder(tmp_path / "other", seed=2).rename(tmp_path / "new")
    place.rename(tmp_path / "old")
    (tmp_path / "new").rename(place)
    after = open_searcher(config).search(["sink"], 6)[0]
    assert [each.score for each in after] != [each.score for each in before]
    corpus = load(str(notes), Cut(240))
    assert index_folder(config, manifest(config, corpus, make_embedder(config))).exists()
