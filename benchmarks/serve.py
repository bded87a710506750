"""Searches a second that `balrog-rag knowledge serve` answers: `python benchmarks/serve.py [--seconds 8]`.

The server is a process of its own, so both share the machine. Each client has a connection, sends the test
set's real queries one after another, and no query twice in a row. `share` is the part answered with 200.
"""

import argparse
import asyncio
import re
import subprocess
import sys
import time
from collections import Counter
from itertools import count
from statistics import median, quantiles

import aiohttp

from balrog_rag.knowledge.evaluation import read_queries
from balrog_rag.util.paths import data

CLIENTS = (20, 200)
_PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")


async def asked(
    port: int, clients: int, seconds: float, queries: list[str]
) -> tuple[Counter[int], list[float]]:
    """Let so many clients ask for so long; return how often each status came, and the times in ms."""
    statuses, took, number = Counter[int](), list[float](), count()
    until = time.perf_counter() + seconds

    async def client(session: aiohttp.ClientSession) -> None:
        while (begun := time.perf_counter()) < until:
            body = {"query": f"{queries[next(number) % len(queries)]} {next(number)}", "top_n": 3}
            async with session.post(f"http://127.0.0.1:{port}/search", json=body) as answer:
                await answer.read()
                statuses[answer.status] += 1
            took.append(1000 * (time.perf_counter() - begun))

    connector = aiohttp.TCPConnector(limit=clients)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(client(session) for _ in range(clients)))
    return statuses, took


def main() -> None:
    """Start the server and print a row for each number of clients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    queries = [query.query for query in read_queries(data("wiki_index") / "queries.jsonl", "all")]
    command = [sys.executable, "-m", "balrog_rag.knowledge", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        found = next(found for line in server.stdout if (found := _PORT.search(line)))
        port = int(found[1])
        asyncio.run(asked(port, 4, 2, queries))  # the first searches load the model
        print(f"{'clients':>7} {'a second':>8} {'p50 ms':>7} {'p95 ms':>7} {'share':>6}")
        for clients in CLIENTS:
            statuses, took = asyncio.run(asked(port, clients, options.seconds, queries))
            rate, share = statuses[200] / options.seconds, statuses[200] / statuses.total()
            late = quantiles(took, n=20)[-1]
            print(f"{clients:>7} {rate:>8.0f} {median(took):>7.0f} {late:>7.0f} {share:>6.0%}", flush=True)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
