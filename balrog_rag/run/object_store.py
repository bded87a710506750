"""Copies of a run's journals in an object store (`runner.store`), from which another machine continues it.

    STORE/RUN/config.json                                      which run this is
    STORE/RUN/<env>/<task>/<task>_run_NN.journal.jsonl         its journals, packed or not

A run is always played locally. Object stores cannot append, so a journal is uploaded whole when its episode
ends, and every `runner.store_every` seconds while it grows. What cannot be uploaded never stops play: it is
tried again, counted, and said at the end with the command that uploads the rest.
"""

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError, JournalError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.packs import journal_name
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.shard_folders import SUFFIX
from balrog_rag.run.plan import PlannedRun
from balrog_rag.util import extras
from balrog_rag.util.files import LARGE, too_large
from balrog_rag.util.shell_commands import command
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import many

PROTOCOLS = {"s3": "s3fs", "file": "fsspec", "memory": "fsspec"}
"""Kinds of store, and the library that each needs. fsspec would load others by their name in the URL."""
AT_ONCE = 8
ATTEMPTS = 3
PAUSE = 1.0
"""Seconds before an upload is tried again, and twice as many before the next attempt."""
GIVE_UP_AFTER = 5
"""Uploads that fail one after the other before the rest is left for later, once the run is over."""


def check_store(config: Config) -> None:
    """Refuse a store whose URL is malformed, whose library is missing, or a run without a name of its own."""
    if config.runner.store is None:
        return
    check_url(config.runner.store, "runner.store")
    if not config.run.name:
        raise ConfigError("runner.store: a run needs a name to be found again; add run.name=NAME")


def check_url(url: str, where: str) -> None:
    """Refuse the URL of a store that is malformed, or whose library is missing."""
    said = f"{where}={one_line(url)[:80]}"
    protocol = url.partition("://")[0]
    if not re.fullmatch(r"[a-z0-9]+://[^\s?#@:]*", url) or protocol not in PROTOCOLS:
        raise ConfigError(
            f"{said}: expected {', '.join(f'{each}://...' for each in PROTOCOLS)}; credentials and endpoints "
            "of s3 belong into AWS_* variables"
        )
    extras.require(PROTOCOLS[protocol], "s3", said)


class ObjectStore:
    """One run's place in a store."""

    def __init__(self, url: str, run: Path) -> None:
        """`run` is the local folder, whose name, or RUN.shards/K-of-N, is that in the store."""
        from fsspec.core import url_to_fs

        self.url = url
        sharded = run.parent.name.endswith(SUFFIX)
        local = {"auto_mkdir": True} if url.startswith("file:") else {}
        self._files, root = url_to_fs(url, **local)
        place = f"{run.parent.name}/{run.name}" if sharded else run.name
        self._root = f"{root.rstrip('/')}/{place}"

    def put(self, name: str, data: bytes) -> None:
        """Upload one file of the run."""
        self._files.pipe_file(f"{self._root}/{name}", data)

    def get(self, name: str) -> bytes | None:
        """Download one file of the run; None if it is not there."""
        try:
            data: bytes = self._files.cat_file(f"{self._root}/{name}")
        except FileNotFoundError:
            return None
        return data

    def sizes(self) -> dict[str, int]:
        """The files of the run in the store, with their sizes."""
        self._files.invalidate_cache()
        try:
            found: dict[str, Any] = self._files.find(self._root, detail=True)
        except FileNotFoundError:
            return {}
        skipped = len(self._root.lstrip("/")) + 1
        return {path.lstrip("/")[skipped:]: int(each.get("size") or 0) for path, each in found.items()}


def fetch_journals(store: ObjectStore, run: Path, specs: Sequence[EpisodeSpec]) -> dict[str, int]:
    """Download what other machines have played of these episodes; return what the store has, with sizes.

    A journal here is replaced only by one that continues it. Raises RunFolderError: to play without knowing
    what was played would pay for the same answers twice.
    """
    try:
        _refuse_another_run(store, run)
        sizes = store.sizes()
        names = {journal_name(spec.episode): spec for spec in specs}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            wanted = [name for name in sizes if name in names]
            list(pool.map(lambda name: _fetch(store, run, names[name], sizes[name]), wanted))
        return sizes
    except (RunFolderError, JournalError):
        raise
    except Exception as error:  # whatever a store's library raises
        raise RunFolderError(
            f"runner.store={store.url}: cannot be read ({_words(error)}); mend that, or play without it: "
            "runner.store=null"
        ) from error


def _refuse_another_run(store: ObjectStore, run: Path) -> None:
    kept = store.get(run_folder.CONFIG)
    if kept is None:
        store.put(run_folder.CONFIG, (run / run_folder.CONFIG).read_bytes())
    elif (
        run_folder.decoded_config(Path(run_folder.CONFIG), kept).digest
        != run_folder.frozen_config(run).digest
    ):
        raise RunFolderError(
            f"runner.store={store.url}: holds a run named {run.name} of another configuration; use another "
            "run.name or another prefix"
        )


def _fetch(store: ObjectStore, run: Path, spec: EpisodeSpec, size: int) -> None:
    path = run_folder.journal_path(run, spec.episode)
    here = journal.read_bytes(path) if journal.exists(path) else b""
    if size <= len(here):
        return
    if size > LARGE:
        raise RunFolderError(f"runner.store={store.url}: {spec.episode}: {too_large(size, LARGE)}")
    data = store.get(journal_name(spec.episode)) or b""
    # A torn last line is played again, and then differs from what another machine wrote there.
    if data.startswith(here[: here.rfind(b"\n") + 1]):
        journal.parse(data, path)
        run_folder.write_bytes(path, data)


class StoreUploads:
    """Uploads journals in threads of its own while a run is played."""

    def __init__(self, store: ObjectStore, run: Path, every: float, there: Mapping[str, int]) -> None:
        """`there`: what the store has, with sizes."""
        self._store, self._run, self._every = store, run, every
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="store")
        self._sent = dict(there)
        """Bytes of each journal that are in the store."""
        self._waiting: dict[str, Future[None]] = {}
        self._failed: dict[str, str] = {}
        self._in_a_row = 0
        self._over = threading.Event()
        self._turn = threading.Lock()
        self._ticking = threading.Thread(target=self._tick, daemon=True, name="store-interval")

    def start(self) -> None:
        """Begin to upload growing journals at intervals."""
        self._ticking.start()

    def ended(self, path: Path) -> None:
        """Upload the journal of an episode that has ended, which may be packed meanwhile."""
        self._pool.submit(self._upload, path)

    def _tick(self) -> None:
        while not self._over.wait(self._every):
            for path in run_folder.journal_files(self._run):
                self._submit(path)

    def _submit(self, path: Path) -> None:
        name = path.relative_to(self._run).as_posix()
        with self._turn:
            waiting = self._waiting.get(name)
            if waiting is None or waiting.done():
                self._waiting[name] = self._pool.submit(self._upload, path)

    def _upload(self, path: Path) -> None:
        """Upload a journal as far as it is written; what fails is kept for the end."""
        name = path.relative_to(self._run).as_posix()
        try:
            data = journal.read_bytes(path)
        except JournalError:  # removed by the user
            return
        data = data[: data.rfind(b"\n") + 1]
        if len(data) == self._sent.get(name):
            return
        if self._over.is_set() and self._in_a_row >= GIVE_UP_AFTER:
            self._failed.setdefault(name, "not tried")
            return
        error = _tried(lambda: self._store.put(name, data), self._over.is_set)
        with self._turn:
            if error is None:
                self._sent[name], self._in_a_row = len(data), 0
                self._failed.pop(name, None)
            else:
                self._failed[name] = _words(error)
                self._in_a_row += 1

    def close(self, others: Iterable[str] = ("run.json", "eval.log")) -> list[str]:
        """Upload what is left; return a line that says what could not be uploaded, if anything."""
        self._over.set()
        if self._ticking.is_alive():
            self._ticking.join()
        self._pool.shutdown()
        self._in_a_row = 0
        begun = [path.relative_to(self._run).as_posix() for path in run_folder.journal_files(self._run)]
        for name in sorted({*self._failed, *begun}):
            self._upload(self._run / name)
        for name in others:
            if not self._failed and (self._run / name).is_file():
                _tried(lambda name=name: self._store.put(name, (self._run / name).read_bytes()), lambda: True)  # type: ignore[misc]
        if not self._failed:
            return []
        why = next(iter(self._failed.values()))
        return [
            f"store: {many(len(self._failed), 'journals')} could not be uploaded ({why}) and are safe here. "
            f"Upload them with: {command('results', 'upload', self._run, '--store', self._store.url)}"
        ]


@asynccontextmanager
async def uploading(run: PlannedRun, notes: list[str]) -> AsyncIterator[StoreUploads | None]:
    """Fetch what the run's store has, and upload what the body plays; `notes` gets what failed."""
    url = run.config.runner.store
    if url is None:
        yield None
        return
    store = await asyncio.to_thread(ObjectStore, url, run.folder)
    there = await asyncio.to_thread(fetch_journals, store, run.folder, run.specs)
    uploads = StoreUploads(store, run.folder, run.config.runner.store_every, there)
    uploads.start()
    try:
        yield uploads
    finally:
        notes += await asyncio.to_thread(uploads.close)


def upload(store: ObjectStore, run: Path) -> tuple[int, int]:
    """Upload every journal that is missing or shorter in the store; return how many, and of how many."""
    sizes, paths = store.sizes(), run_folder.journals(run)
    sent = 0
    for path in paths:
        name, data = path.relative_to(run).as_posix(), journal.read_bytes(path)
        data = data[: data.rfind(b"\n") + 1]
        if sizes.get(name, -1) < len(data):
            error = _tried(lambda name=name, data=data: store.put(name, data), lambda: False)  # type: ignore[misc]
            if error is not None:
                raise RunFolderError(f"{store.url}: {name} cannot be uploaded ({_words(error)})") from error
            sent += 1
    return sent, len(paths)


def _tried(call: Callable[[], None], hurry: Callable[[], bool]) -> Exception | None:
    """Call, and call again after a failure, unless in a hurry; return the last error."""
    failure: Exception | None = None
    for attempt in range(ATTEMPTS):
        try:
            call()
        except Exception as error:  # noqa: BLE001 - whatever a store's library raises
            failure = error
        else:
            return None
        if hurry():
            break
        time.sleep(PAUSE * 2**attempt)
    return failure


def _words(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}")[:200]
