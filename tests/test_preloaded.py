"""The server that forks commands for other tests: a fork has what a start of Python has."""

import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from tests import preloaded
from tests.support import CLEAN, until


@pytest.fixture
def site(tmp_path: Path) -> dict[str, str]:
    """An environment in which `python -m told` prints how it was started, and `python -m waiting` waits."""
    (tmp_path / "told.py").write_text(
        textwrap.dedent("""
            import os, sys
            print(sys.argv[1:], os.getcwd(), os.environ["SAID"], __name__)
            os.write(int(sys.argv[1]), b"written")
            sys.exit(int(sys.argv[2]))
        """)
    )
    (tmp_path / "waiting.py").write_text("import sys, time\nprint(flush=True)\ntime.sleep(600)\n")
    return {**CLEAN, "PYTHONPATH": str(tmp_path), "SAID": "in the environment"}


def test_a_fork_has_its_own_words_folder_environment_files_and_exit_code(tmp_path, site):
    with open(tmp_path / "out", "wb") as out, open(tmp_path / "file", "wb") as file:
        forked = preloaded.server().fork(
            "told", ["9", "3"], tmp_path, site, {1: out.fileno(), 9: file.fileno()}
        )
        assert forked.wait() == 3
        assert forked.wait() == 3
    said = (tmp_path / "out").read_text()
    assert said == f"['9', '3'] {tmp_path} in the environment __main__\n"
    assert (tmp_path / "file").read_text() == "written"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_a_fork_ends_when_it_is_killed_and_when_nobody_waits_for_it(tmp_path, site):
    for ended in (preloaded.Forked.kill, lambda forked: forked._reply.close()):
        with open(tmp_path / "out", "wb") as out:
            forked = preloaded.server().fork("waiting", [], tmp_path, site, {1: out.fileno()})
        until(lambda: (tmp_path / "out").read_text())
        ended(forked)
        if forked._reply.fileno() >= 0:
            assert forked.wait() == -signal.SIGKILL
        until(lambda pid=forked.pid: not os.path.exists(f"/proc/{pid}"))


def test_what_only_a_start_of_python_would_honour_is_refused(tmp_path, site):
    def forked(**more: str) -> preloaded.Forked | None:
        return preloaded.server().fork("told", [], tmp_path, site | more, {})

    assert forked(PYTHONHASHSEED="1") is None
    (tmp_path / "numpy.py").write_text("")
    assert forked() is None
