"""Two threads may be the first to read configurations: the process does not crash."""

import json
import subprocess
import sys

import pytest

from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.frozen import config_digest, plain
from tests.support import CLEAN

FORKS, THREADS = 400, 4
RACE = f"""
import json, os, sys, threading
from pathlib import Path
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.frozen import thaw
from balrog_rag.results.run_folder import decoded_config

sys.setswitchinterval(1e-6)
agent = json.loads(sys.argv[1])
stored = sys.argv[2].encode()
first = [lambda: thaw(agent, AgentConfig), lambda: decoded_config(Path("config.json"), stored)]

def run(use, start):
    start.wait()
    use()

crashed = [0, 0]
for place, use in enumerate(first):
    for _ in range({FORKS}):
        child = os.fork()
        if not child:
            start = threading.Barrier({THREADS})
            threads = [threading.Thread(target=run, args=(use, start)) for _ in range({THREADS})]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            os._exit(0)
        crashed[place] += os.waitpid(child, 0)[1] != 0
print(crashed)
"""
"""Forks a process that has decoded nothing; without care a few of a hundred crash."""


@pytest.mark.slow
def test_the_first_use_of_a_type_may_be_in_two_threads_at_once() -> None:
    config = {"agent": plain(AgentConfig()), "env": {"tasks": []}, "limits": {}}
    stored = json.dumps({"digest": config_digest(config), "config": config})
    done = subprocess.run(
        [sys.executable, "-c", RACE, json.dumps(config["agent"]), stored],
        env=CLEAN, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "[0, 0]\n", done.stderr
