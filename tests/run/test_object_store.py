"""A run whose journals are copied to a store: continued elsewhere, and played on when the store fails."""

import re
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.cli.results import main as results
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.run_folder import journal_files, journals
from balrog_rag.run.object_store import ObjectStore
from tests.support import timeless

pytest.importorskip("fsspec", reason="the extra s3 is not installed")
RUN = ["model=scripted", "agent=naive", "env=corridor", "env.episodes=3", "limits.steps=4", "runner.log=none"]


def play(place: Path, store: Path | str, *words: str) -> balrog_rag.Run:
    url = store if isinstance(store, str) else f"file://{store}"
    return balrog_rag.evaluate(
        *RUN, f"run.folder={place}", "run.name=run", f"runner.store={url}", "runner.store_every=1", *words
    )


def contents(run: Path) -> dict[str, list]:
    return {str(path.relative_to(run)): timeless(path) for path in journals(run)}


def test_another_machine_continues_a_run_from_its_store(tmp_path: Path, monkeypatch) -> None:
    store = tmp_path / "store"
    first = play(tmp_path / "first", store)
    kept = {path: path.read_bytes() for path in journals(store / "run")}
    assert {path.name: data for path, data in kept.items()} == {
        path.name: path.read_bytes() for path in journals(first.folder)
    }
    # One episode was still being played when the first machine was lost, another had not begun.
    half, missing = list(kept)[:2]
    half.write_bytes(b"".join(kept[half].splitlines(keepends=True)[:-3]))
    missing.unlink()
    second = play(tmp_path / "second", store)
    assert second.complete
    assert contents(second.folder) == contents(first.folder)
    untouched = list(kept)[2]
    assert (second.folder / untouched.relative_to(store / "run")).read_bytes() == kept[untouched]
    # What the second machine added is in the store.
    assert {path.name for path in journals(store / "run")} == {path.name for path in kept}
    assert half.read_bytes().startswith(b"".join(kept[half].splitlines(keepends=True)[:-3]))
    assert b'{"t":"end"' in half.read_bytes()


def test_packed_journals_are_uploaded_too(tmp_path: Path) -> None:
    run = play(tmp_path / "first", tmp_path / "store", "run.pack=2")
    assert not journal_files(run.folder)
    assert contents(tmp_path / "store/run") == contents(run.folder)
    again = play(tmp_path / "second", tmp_path / "store", "run.pack=2")
    assert contents(again.folder) == contents(run.folder)


@pytest.mark.filterwarnings("ignore:.*could not be uploaded")
def test_a_store_that_fails_loses_no_play_and_the_rest_is_uploaded_later(tmp_path, monkeypatch, capsys):
    put, failures = ObjectStore.put, []

    def failing(store: ObjectStore, name: str, data: bytes) -> None:
        if name.endswith(".jsonl"):
            failures.append(name)
            raise ConnectionError("no route to host")
        put(store, name, data)

    monkeypatch.setattr("balrog_rag.run.object_store.PAUSE", 0.01)
    monkeypatch.setattr(ObjectStore, "put", failing)
    run = play(tmp_path / "first", tmp_path / "store")
    assert run.complete
    assert len(failures) > 3  # each was tried again
    (said,) = [line for line in run.troubles if "store:" in line]
    command = re.search(r"balrog-rag results (upload \S+ --store \S+)$", said)
    assert "3 journals could not be uploaded (ConnectionError: no route to host)" in said
    assert not journals(tmp_path / "store/run")
    monkeypatch.setattr(ObjectStore, "put", put)
    assert results(command[1].split()) == 0
    assert "3 of 3 journals uploaded" in capsys.readouterr().out
    assert contents(tmp_path / "store/run") == contents(run.folder)


def test_a_store_with_another_run_of_that_name_is_refused(tmp_path: Path) -> None:
    play(tmp_path / "first", tmp_path / "store")
    before = {path: path.read_bytes() for path in journals(tmp_path / "store")}
    with pytest.warns(UserWarning, match="holds a run named run of another configuration"):
        assert not play(tmp_path / "second", tmp_path / "store", "run.seed=5").complete
    assert not journals(tmp_path / "second")
    assert {path: path.read_bytes() for path in journals(tmp_path / "store")} == before


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host/x", "expected s3://"),
        ("s3://key:secret@bucket/x", "looks like a secret"),
        ("s3://host:9000/x", "AWS_* variables"),
        ("simplecache::s3://bucket", "expected s3://"),
        ("bucket/prefix", "expected s3://"),
    ],
)
def test_other_urls_are_refused_before_a_folder_is_made(tmp_path: Path, url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        play(tmp_path, url)
    assert not list(tmp_path.iterdir())


def test_a_run_in_a_store_needs_a_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="add run"):
        balrog_rag.evaluate(*RUN, f"run.folder={tmp_path}", f"runner.store=file://{tmp_path}/store")
