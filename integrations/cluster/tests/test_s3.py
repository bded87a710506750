"""Runs whose journals are kept in S3: moto's server stands in for it, reached by the real s3fs."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

RUN = [
    "model=scripted", "model.options.latency=0.2", "agent=naive", "env=corridor", "env.episodes=4",
    "limits.steps=8", "runner.log=plain", "runner.workers=1", "run.name=run",
    "runner.store=s3://bucket/runs", "runner.store_every=1",
]  # fmt: skip
PATIENCE = 300.0


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server's address, with an empty bucket."""
    with socket.socket() as quiet:
        quiet.bind(("127.0.0.1", 0))
        port = quiet.getsockname()[1]
    command = [Path(sys.executable).with_name("moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        found = f"http://127.0.0.1:{port}"
        until(lambda: answers(found))
        client(found).create_bucket(Bucket="bucket")
        try:
            yield found
        finally:
            server.terminate()


def answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except OSError:
        return False
    return True


def until(holds) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


NAMES = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}


def client(address: str):
    return boto3.client(
        "s3",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )


def objects(address: str) -> dict[str, bytes]:
    s3 = client(address)
    found = s3.list_objects_v2(Bucket="bucket").get("Contents", [])
    return {each["Key"]: s3.get_object(Bucket="bucket", Key=each["Key"])["Body"].read() for each in found}


def started(place: Path, address: str, *words: str) -> subprocess.Popen[str]:
    place.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *RUN, *words],
        cwd=place, env={**os.environ, **KEYS, "AWS_ENDPOINT_URL": address},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def journals(run: Path) -> dict[str, bytes]:
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in run.rglob("*.journal.jsonl")}


def answered(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines() if line.startswith(b'{"t":"llm"')]


def test_a_lost_machine_is_continued_by_another(address: str, tmp_path: Path) -> None:
    """Killed in the middle of episodes, its disk lost: what the store has is continued, not played again."""
    first = started(tmp_path / "first", address, "runner.concurrency=2")
    until(lambda: any(answered(data) for data in objects(address).values()))
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdout.close()
    time.sleep(1)  # an upload that was on its way
    kept = {key.removeprefix("runs/run/"): data for key, data in objects(address).items()}
    shutil.rmtree(tmp_path / "first")
    second = started(tmp_path / "second", address)
    said = second.communicate()[0]
    assert second.returncode == 0, said
    here = journals(tmp_path / "second/results/run")
    assert len(here) == 4
    for name, data in kept.items():
        if name.endswith(".journal.jsonl"):
            assert here[name].startswith(data), name
    there = {key.removeprefix("runs/run/"): data for key, data in objects(address).items()}
    assert {name: data for name, data in there.items() if name.endswith(".journal.jsonl")} == here


def test_a_server_that_is_gone_in_between_loses_no_play(address: str, tmp_path: Path) -> None:
    """The store refuses writes while the run is played; the command at the end uploads the rest."""
    words = ["run.name=other", "runner.store_every=100"]
    process = started(tmp_path, address, *words)
    until(lambda: "runs/other/config.json" in objects(address))
    s3 = client(address)
    for key in objects(address):
        s3.delete_object(Bucket="bucket", Key=key)
    s3.delete_bucket(Bucket="bucket")
    said = process.communicate()[0]
    assert process.returncode == 0, said
    assert len(journals(tmp_path / "results/other")) == 4
    (line,) = [line for line in said.splitlines() if "could not be uploaded" in line]
    assert "4 journals" in line
    s3.create_bucket(Bucket="bucket")
    words = line.partition("balrog-rag results ")[2].split()
    done = subprocess.run(
        [sys.executable, "-m", "balrog_rag.results", *words], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, **KEYS, "AWS_ENDPOINT_URL": address},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "4 of 4 journals uploaded" in done.stdout
