"""The overhead of the model client: `python benchmarks/llm.py [--local]`.

The server is the project's own test server in a separate process, which answers at once. Figures are the best
of several rounds, since other programs on the machine can only worsen them.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from contextlib import contextmanager

import aiohttp
import httpx
import msgspec

from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import AnswerFormat, Message, Request
from balrog_rag.models import build
from balrog_rag.models.token_counts import count_text
from balrog_rag.util.secrets import redact

ROUNDS = 3
ACTIONS = "\n".join(f"action{number}: what it does" for number in range(80))


def request(number, turns):
    """A prompt like an agent's: rules, a history of this many turns, the question."""
    history = [Message("user" if n % 2 == 0 else "assistant", "a corridor " * 100) for n in range(turns)]
    return Request((Message("system", ACTIONS), *history, Message("user", f"{number} <|ACTION|>x<|END|>")))


@contextmanager
def server():
    """The address of a test server in a separate process."""
    command = [sys.executable, "-m", "balrog_rag.models", "testserver"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def each(ask, calls):
    """Seconds per call, one after the other."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for number in range(calls):
            await ask(number)
        best = min(best, (time.perf_counter() - begun) / calls)
    return best


async def together(ask, calls, at_once=64):
    """Calls per second with this many in flight."""
    best = 0.0
    for _ in range(ROUNDS):
        gate = asyncio.Semaphore(at_once)

        async def one(number, gate=gate):
            async with gate:
                await ask(number)

        begun = time.perf_counter()
        await asyncio.gather(*map(one, range(calls)))
        best = max(best, calls / (time.perf_counter() - begun))
    return best


async def processor_time(ask, calls=200):
    """Seconds of this process's processor time per call, the best of several rounds."""
    best = float("inf")
    for _ in range(2 * ROUNDS):
        begun = time.process_time()
        for number in range(calls):
            await ask(number)
        best = min(best, (time.process_time() - begun) / calls)
    return best


async def longest_pause(work):
    """The longest pause of the event loop during a call, and the call's duration."""
    longest, last, done = 0.0, time.perf_counter(), False

    async def watch():
        nonlocal longest, last
        while not done:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    watching = asyncio.create_task(watch())
    begun = time.perf_counter()
    await work
    took = time.perf_counter() - begun
    done = True
    await watching
    return took, longest


def row(what, figure, target=""):
    """One line of the table."""
    print(f"{what:<68} {figure:>16} {target:>14}")


async def clients(url):
    """Our client compared with a bare one."""
    model = build(compose(["model=vllm", f"model.base_url={url}"]).model)
    took, pause = await longest_pause(model.warm())
    row("loading what calls need in a thread, the event loop going on", f"{took:.2f} s")
    row("  longest pause of the event loop meanwhile", f"{pause * 1e3:.0f} ms")
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=100)) as bare:
        for turns in (1, 31):

            async def ask_bare(number, turns=turns):
                messages = [{"role": m.role, "content": m.text} for m in request(number, turns).messages]
                answer = await bare.post(f"{url}/chat/completions", json={"model": "m", "messages": messages})
                return answer.json()["choices"][0]["message"]["content"]

            async def ask_ours(number, turns=turns):
                return (await model.complete(request(number, turns))).text

            assert await ask_bare(1) == await ask_ours(1)
            name = f"{turns + 2} messages"
            row(
                f"processor time of a call, bare httpx, {name}",
                f"{await processor_time(ask_bare) * 1e3:.2f} ms",
            )
            aio = await bare_aiohttp(url, turns)
            row(f"processor time of a call, bare aiohttp, {name}", f"{aio * 1e3:.2f} ms")
            ours = await processor_time(ask_ours)
            row(f"processor time of a call, this client, {name}", f"{ours * 1e3:.2f} ms", "<= 0.5 ms")
            row(f"one call, bare httpx, {name}", f"{await each(ask_bare, 200) * 1e3:.2f} ms")
            row(f"one call, this client, {name}", f"{await each(ask_ours, 200) * 1e3:.2f} ms")
            row(f"64 in flight, bare httpx, {name}", f"{await together(ask_bare, 1000):.0f} calls/s")
            row(
                f"64 in flight, this client, {name}",
                f"{await together(ask_ours, 1000):.0f} calls/s",
                ">= 300",
            )
    await model.close()


async def bare_aiohttp(url, turns):
    """Seconds of processor time of the same call with bare aiohttp."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(number):
            messages = [{"role": m.role, "content": m.text} for m in request(number, turns).messages]
            body = msgspec.json.encode({"model": "m", "messages": messages})
            async with session.post(f"{url}/chat/completions", data=body) as answer:
                return msgspec.json.decode(await answer.read())["choices"][0]["message"]["content"]

        return await processor_time(ask)


async def server_alone(url):
    """The test server, called over raw connections."""
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    body = b'{"model": "m", "messages": [{"role": "user", "content": "go <|ACTION|>"}]}'
    sent = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body

    async def talk(calls):
        reader, writer = await asyncio.open_connection(host, int(port))
        for _ in range(calls):
            writer.write(sent)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.rsplit(b"content-length: ", 1)[1]))
        writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*[talk(250) for _ in range(32)])
    row("test server alone", f"{8000 / (time.perf_counter() - begun):.0f} calls/s", ">= 2000")


def small_things():
    """The processing that every text gets."""
    answer, prompt = "I go on. <|ACTION|>far east<|END|>" * 20, ("#....   " * 10 + "\n") * 300
    for name, work in (
        (f"redact, an answer of {len(answer)} characters", lambda: redact(answer)),
        (f"count tokens, {len(prompt)} characters, not seen before", lambda: count_text.__wrapped__(prompt)),
    ):
        begun = time.perf_counter()
        for _ in range(200):
            work()
        row(name, f"{(time.perf_counter() - begun) / 200 * 1e6:.0f} us")


async def local():
    """The embedded model."""
    model = build(compose(["model=local"]).model)
    begun = time.perf_counter()
    await model.warm()
    row("embedded model: start, weights at hand", f"{time.perf_counter() - begun:.2f} s")
    form = AnswerFormat(("north", "south", "far east"), "<|ACTION|>", "<|END|>")
    for turns in (1, 3):
        asked = [Request(request(number, turns).messages, "act", form) for number in range(6)]
        await model.complete(asked[0])
        begun = time.perf_counter()
        replies = await asyncio.gather(*map(model.complete, asked[1:]))
        took = time.perf_counter() - begun
        fresh = sum(reply.usage.input - reply.usage.cached for reply in replies)
        row(
            f"embedded model, prompts of {replies[0].usage.input} tokens",
            f"{len(replies) / took:.2f} calls/s",
        )
        row("  tokens read that were not cached", f"{fresh / took:.0f} tokens/s")
    await model.close()


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--local", action="store_true", help="also measure the embedded model")
    chosen = parser.parse_args()
    row("what", "measured", "target")
    with server() as url:
        asyncio.run(server_alone(url))
        asyncio.run(clients(url))
    small_things()
    if chosen.local:
        asyncio.run(local())


if __name__ == "__main__":
    main()
