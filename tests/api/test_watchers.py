"""User-defined watchers: what they receive, and that none of them disturbs a run."""

import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import balrog_rag
from balrog_rag import agents
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Reply, Request
from balrog_rag.contracts.errors import ConfigError, ModelUnavailable
from balrog_rag.contracts.events import Answered, Asked, Ended, Event, Started, Stepped, WatchedRun
from balrog_rag.episode import journal as journals
from balrog_rag.results.run_folder import frozen_config
from balrog_rag.results.run_folder import journals as journals_in
from balrog_rag.run import user_watchers
from balrog_rag.run.demands import demands
from balrog_rag.run.user_watchers import Patience

SHORT = (
    *("model=scripted", "agent=naive", "env=corridor"),
    *("env.episodes=2", "limits.steps=4", "runner.workers=1", "runner.log=none"),
)


def kinds_of(events: list[Event]) -> dict[str, list[type]]:
    """The kinds of event of each episode, in the order of arrival."""
    found = defaultdict(list)
    for event in events:
        found[event.episode].append(type(event))
    return found


def test_a_watcher_receives_every_event_of_every_episode_in_order(tmp_path: Path) -> None:
    seen: list[Event] = []
    run = balrog_rag.evaluate(*SHORT, folder=tmp_path / "run", watch=[seen.append])
    turns = [Asked, Answered, Stepped] * 4
    assert list(kinds_of(seen).values()) == [[Started, *turns, Ended]] * 2
    first = min(event.episode for event in seen)
    replayed = [event for event in run.events(first) if not isinstance(event, Answered)]
    assert [event for event in seen if event.episode == first and not isinstance(event, Answered)] == replayed


class Counter:
    """Created for each run, and closed at its end."""

    made: list["Counter"] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.seen, self.closed = 0, False
        Counter.made.append(self)

    def see(self, event: Event) -> None:
        self.seen += 1

    def close(self) -> None:
        self.closed = True


def test_a_registered_class_is_made_for_each_run(tmp_path: Path) -> None:
    balrog_rag.register.watcher("counter")(Counter)
    for name in ("a", "b"):
        balrog_rag.evaluate(*SHORT, "run.watch=[counter]", folder=tmp_path / name)
    assert [(each.seen, each.closed) for each in Counter.made] == [(28, True)] * 2


def failing(event: Event) -> None:
    raise OSError("the disk is full\nin \x1b[31mred")


def exiting(event: Event) -> None:
    raise SystemExit(3)


class Unmade:
    def __init__(self) -> None:
        raise KeyError("no such file")

    def see(self, event: Event) -> None:
        """Never called."""


@pytest.mark.parametrize(
    ("watcher", "said"),
    [
        (failing, "in failing: OSError: the disk is full"),
        (exiting, "in exiting: SystemExit: 3"),
        (Unmade, "in __init__: KeyError: 'no such file'"),
    ],
)
def test_a_watcher_that_raises_is_reported_once_and_switched_off(
    watcher: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Event] = []
    run = balrog_rag.evaluate(*SHORT, folder=tmp_path / "run", watch=[watcher, seen.append])
    assert (run.complete, run.troubles, len(seen)) == (True, [], 28)
    told = capsys.readouterr().err
    assert told.count(said) == 1
    assert told.count("\n") == 1
    assert f"watcher {watcher.__name__} failed: " in told
    assert "\x1b" not in told
    logged = (run.folder / "eval.log").read_text()
    assert logged.count(f"ERROR watcher {watcher.__name__}") == 1
    assert "Traceback" in logged


def test_a_watcher_that_hangs_does_not_hold_the_run_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_watchers, "PATIENCE", Patience(one_event=0.05))
    never = threading.Event()

    def stuck(event: Event) -> None:
        never.wait()

    try:
        run = balrog_rag.evaluate(*SHORT, folder=tmp_path / "run", watch=[stuck])
    finally:
        never.set()
    assert run.complete
    assert capsys.readouterr().err.count("watcher stuck hangs: ") == 1
    assert (run.folder / "eval.log").read_text().count("watcher stuck hangs: ") == 1


def test_a_watcher_that_is_not_done_in_time_is_switched_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_watchers, "PATIENCE", Patience(at_end=0.0))
    never, seen = threading.Event(), []

    def slow(event: Event) -> None:
        seen.append(event)
        never.wait(0.5)  # too long for the run, and short enough never to be taken as hanging

    run = balrog_rag.evaluate(*SHORT, folder=tmp_path / "run", watch=[slow])
    never.set()
    assert run.complete
    assert len(seen) < 28
    assert capsys.readouterr().err.count("watcher slow is too slow: ") == 1


def test_events_for_which_a_watcher_is_too_slow_are_dropped_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_watchers, "PATIENCE", Patience(waiting=5))
    played, seen = threading.Event(), []

    def slow(event: Event) -> None:
        seen.append(event)
        if not played.is_set():
            played.wait(60)

    def both_ended(event: Event, ends: list[Event] = []) -> None:  # noqa: B006
        ends += [event] if isinstance(event, Ended) else []
        if len(ends) == 2:
            played.set()

    run = balrog_rag.evaluate(*SHORT, folder=tmp_path / "run", watch=[slow, both_ended])
    assert (run.complete, run.troubles) == (True, [])
    assert sum(isinstance(event, Started | Ended) for event in seen) == 4  # never dropped before others
    told = capsys.readouterr().err
    assert "watcher slow is slower than play: 5 events are waiting for it, further ones are dropped" in told
    assert f"watcher slow missed {28 - len(seen)} events" in told
    assert len(seen) < 28


class Informed:
    """Is told about the run, slowly, before its first event."""

    order: list[Any] = []  # noqa: RUF012

    def watch_run(self, run: WatchedRun) -> None:
        time.sleep(0.2)
        self.order.append(run)

    def see(self, event: Event) -> None:
        self.order.append(event)


def test_a_watcher_can_learn_about_its_run_before_the_first_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_watchers, "PATIENCE", Patience(one_event=0.1))  # starting may take longer
    run = balrog_rag.evaluate(*SHORT, folder=tmp_path / "run", watch=Informed)
    first, *others = Informed.order
    assert isinstance(first, WatchedRun)
    assert (first.folder, first.digest) == (run.folder, frozen_config(run.folder).digest)
    assert first.config["limits"]["steps"] == 4
    headers = [journals.read(path).header for path in journals_in(run.folder)]
    assert first.planned == {head.spec.episode: head.spec_digest for head in headers if head is not None}
    assert len(others) == 28


async def asynchronous(event: Event) -> None:
    """Would only create coroutines that are never awaited."""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"watch": [3]}, "watch: int cannot watch; pass a function"),
        ({"watch": object}, "watch: object cannot watch"),
        ({"watch": [asynchronous]}, "watch: asynchronous is asynchronous; use def"),
        ({"watch": "countre"}, "watch: unknown watcher 'countre'; did you mean counter"),
    ],
)
def test_what_cannot_watch_is_refused_before_the_run(given: Any, said: str, tmp_path: Path) -> None:
    balrog_rag.register.watcher("counter")(Counter)
    with pytest.raises(ConfigError, match=said):
        balrog_rag.evaluate(*SHORT, folder=tmp_path / "run", **given)
    with pytest.raises(ConfigError, match=r"run\.watch.*unknown watcher.*counter"):
        balrog_rag.evaluate(*SHORT, "run.watch=[conter]", folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


class Breaking:
    """A model that fails once, at its fourth answer."""

    def __init__(self) -> None:
        self.answers = 0

    async def complete(self, request: Request) -> Reply:
        self.answers += 1
        if self.answers == 4:
            raise ModelUnavailable("out of order")
        return Reply("north")


def test_a_resumed_run_can_be_watched(tmp_path: Path) -> None:
    words = [word for word in SHORT if not word.startswith("model")]
    with pytest.warns(UserWarning, match="out of order"):
        run = balrog_rag.evaluate(*words, "runner.concurrency=1", model=Breaking(), folder=tmp_path / "run")
    seen: list[Event] = []
    assert run.resume(watch=seen.append).complete
    kinds = list(kinds_of(seen).values())
    assert [Started, *[Asked, Answered, Stepped] * 4, Ended] in kinds  # replayed, then played on
    assert run.config == run.resume("run.watch=[]").config


def demanded(*words: str) -> dict[str, Any]:
    config = compose(list(words))
    return demands(config, agents.needs(config.agent))


def test_a_folder_of_somebody_elses_that_names_watchers_needs_trust() -> None:
    balrog_rag.register.watcher("counter")(Counter)
    assert demanded("run.watch=[counter]")["run.watch"] == ["counter"]
    assert "run.watch" not in demanded()
