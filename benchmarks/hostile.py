"""The cost of servers with unbounded or invalid answers: `python benchmarks/hostile.py [KIND ...]`.

Each kind of answer comes from a separate process. The longest pause of the event loop is measured in the
processor time of its thread, so that other programs do not affect it; targets are the project's own.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import time
import zlib
from contextlib import contextmanager

from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Message
from balrog_rag.models.calls import call_of
from balrog_rag.models.failures import FailedCall

MILLION = 1_000_000
PATIENCE = 5
ASKED = (Message("system", "You play."), Message("user", "A newt."))


def said(content):
    """A completion with this text."""
    return b'{"choices":[{"message":{"content":"' + content + b'"}}]}'


BODIES = {
    "4 MB of spaces": b" " * 4 * MILLION,
    "4 MB of opening brackets": b"[" * 4 * MILLION,
    "a million choices": b'{"choices":[' + b"{}," * MILLION + b"{}]}",
    "a million counts": said(b"x")[:-1] + b',"usage":[' + b"{}," * MILLION + b"{}]}",
    "a count of four million digits": said(b"x")[:-1]
    + b',"usage":{"prompt_tokens":'
    + b"9" * 3900000
    + b"}}",
    "a million numbers that are none": said(b"x")[:-1] + b',"more":[' + b"NaN," * 900_000 + b"1]}",
    "4 MB of text": said(b"a ring of keys. " * 250_000),
    "4 MB of beginnings of tokens": said(b"eyJaaaaaaaaa-" * 300_000),
    "4 MB of beginnings of addresses": said(b"://a.a.a." * 400_000),
}
ENDLESS = {
    "an endless body": (b"HTTP/1.1 200 OK\r\n\r\n", b" " * 65536),
    "an endless error": (b"HTTP/1.1 500 No\r\n\r\n", b"overloaded " * 6000),
    "endless headers": (b"HTTP/1.1 200 OK\r\n", b"x-more: " + b"x" * 4000 + b"\r\n"),
    "endless chunks of one byte": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\n \r\n" * 10_000,
    ),
}
BOMB = "200 MB of spaces, packed"
KINDS = [*BODIES, *ENDLESS, BOMB]


def answer(kind):
    """What is sent first, and what is repeated without end."""
    if kind in ENDLESS:
        return ENDLESS[kind]
    body, more = BODIES.get(kind, b""), b""
    if kind == BOMB:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        body, more = packer.compress(b" " * 200 * MILLION) + packer.flush(), b"content-encoding: gzip\r\n"
    return b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\n\r\n%b" % (more, len(body), body), b""


async def serve(kind):
    """Answer in this way until killed."""
    first, ever = answer(kind)

    async def handle(reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(first)
            await writer.drain()
            while ever:
                writer.write(ever)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def serving(kind):
    """The address of such a server."""
    command = [sys.executable, __file__, "--serve", kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


async def meet(way, url):
    """The longest pause of the loop, the increase of memory and the result of one attempt."""
    call = call_of(compose([f"model={way}", f"model.base_url={url}"]).model)
    await asyncio.to_thread(call.open)
    longest, done = 0.0, False

    async def watch():
        nonlocal longest
        last = time.thread_time()
        while not done:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest, last = max(longest, now - last), now

    watching = asyncio.create_task(watch())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        async with asyncio.timeout(PATIENCE):
            reply = (await call(ASKED)).reply
            outcome = f"an answer of {len(reply.text):,} characters"
    except FailedCall as failed:
        outcome = str(failed)
    except TimeoutError:
        outcome = f"nothing within {PATIENCE} s"
    done = True
    await watching
    await call.close()
    return longest, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, outcome


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=KINDS, help=f"of: {'; '.join(KINDS)}")
    parser.add_argument("--serve", metavar="KIND", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        asyncio.run(serve(chosen.serve))
        return
    os.environ.setdefault("DEEPSEEK_API_KEY", "none-0123456789")
    for way, name in (("vllm", "our own client"), ("deepseek", "through LiteLLM")):
        print(f"{name:34}{'longest pause':>16}{'memory':>10}  outcome")
        asyncio.run(meet(way, "http://127.0.0.1:9/v1"))  # what is loaded once counts for none of them
        for kind in chosen.kinds:
            with serving(kind) as url:
                pause, memory, outcome = asyncio.run(meet(way, url))
            print(f"{kind:34}{pause * 1e3:>13.0f} ms{memory:>7.0f} MB  {outcome[:90]}", flush=True)
    print(f"{'targets':34}{'<= 50 ms':>16}{'some MB':>10}")


if __name__ == "__main__":
    main()
