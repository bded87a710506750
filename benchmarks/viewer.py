"""The viewer's figures: bytes a step, rebuilding, opening, seeking, searching, exporting, following.

    python benchmarks/viewer.py            # everything; the page's own figures need chromium and chromedriver
    python benchmarks/viewer.py size live
    python benchmarks/viewer.py many --run RUN --against CHECKOUT   # a run of that kind, compared

Real games with the scripted model and retrieval; targets stand beside the figures.
"""

import argparse
import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from balrog_rag.results.episode_index import INDEX
from balrog_rag.results.run_folder import journals
from balrog_rag.viewer import bundle, screen_recording
from balrog_rag.viewer.html_page import page
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.rebuilding import RebuiltEpisode

TOP = Path(__file__).parents[1]
WIKI = {
    name: f"# {name}\n\nWhat there is to know about every {name}.\n" for name in ("newt", "stairs", "altar")
}
LONG, SHORT = 10_000, 1_000
SEARCHED = 10_000_000


def play(top: Path, name: str, steps: int, *words: str) -> Path:
    """A run of one long episode; a seed whose game ends early is replaced by the next one."""
    for seed in range(1, 40):
        run = top / f"{name}{seed}"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "balrog_rag.eval", *words, "env.episodes=1", "env.no_progress=0"),
                *(f"limits.steps={steps}", f"run.seed={seed}", f"run.folder={top}", f"run.name={run.name}"),
                *("run.csv=false", "runner.log=none"),
            ],
            capture_output=True,
            text=True,
            cwd=top,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        if f'"steps":{steps},' in journals(run)[0].read_text().splitlines()[-1]:
            return run
    raise SystemExit(f"no game of {steps} steps among the seeds")


def retrieving(top: Path) -> list[str]:
    (top / "wiki").mkdir(exist_ok=True)
    for name, text in WIKI.items():
        (top / "wiki" / f"{name}.md").write_text(text)
    corpus = [f"knowledge.corpus={top / 'wiki'}", "knowledge.index=bm25"]
    # mostly actions that take no game time, so that hunger does not end the game before its steps are played
    still = ",".join(["look", "inventory", "overview", "attributes", "'Query: stairs'"] * 4)
    calm = f"model.options.answers=[{still},north,south,east,west]"
    return ["model=scripted", "agent=naive_rag", calm, *corpus]


def size(top: Path) -> None:
    """Bytes of a page of 1,000 steps with three calls per step."""
    out = top / "short.html"
    bundle.write(listed([play(top, "short", SHORT, *retrieving(top))]), out)
    bare = sum(map(len, page()))
    told(f"page of {SHORT:,} steps with every prompt", f"{out.stat().st_size / 1e6:.2f} MB", "< 2 MB")
    told("  of which the page itself", f"{bare / 1e3:.0f} kB")
    told("  bytes a step", f"{(out.stat().st_size - bare) / SHORT:,.0f}")


def long_page(top: Path) -> tuple[Path, Path]:
    """A page of 10,000 steps and its run, and the time to create it."""
    out, run = top / "long.html", play(top, "long", LONG, *retrieving(top))
    begun = time.perf_counter()
    rebuilt = RebuiltEpisode(journals(run)[0])
    rebuilt.run()
    took = time.perf_counter() - begun
    told(f"rebuild {LONG:,} steps", f"{took:.1f} s, {LONG / took:,.0f} steps/s")
    begun = time.perf_counter()
    screen_recording.write(rebuilt.collector, top / "long.cast", "long", None)
    told(f"export {LONG:,} steps as an asciicast", f"{time.perf_counter() - begun:.1f} s")
    begun = time.perf_counter()
    screen_recording.write(rebuilt.collector, top / "long.gif", "long", "0:499")
    told("export 500 steps as a GIF", f"{time.perf_counter() - begun:.1f} s")
    bundle.write(listed([run]), out)
    told(f"page of {LONG:,} steps", f"{out.stat().st_size / 1e6:.2f} MB")
    return out, run


SEEK = """
const done = arguments[arguments.length - 1];
(async () => {
  const range = document.querySelector('.controls input[type=range]');
  const number = document.querySelector('.count input');
  const times = [];
  for (let n = 0; n < 60; n++) {
    const at = (n * 7919 + 13) % Number(range.max);
    const begun = performance.now();
    range.value = at;
    range.dispatchEvent(new Event('input'));
    const shows = () => document.querySelector('.decision .action .soft')?.textContent === 'step ' + at;
    while (!shows()) await new Promise((next) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = next;
      channel.port2.postMessage(0);
    });
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  done([times[30], times[57]]);
})();
"""
EARLY = "document.querySelector('.early .screen pre')"
READY = "document.querySelector('.screen pre') && document.querySelector('.decision')"


def new_browser():
    """Headless Chromium, or None where it is missing."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        print("  no chromium and chromedriver here; nothing of the page is measured")
        return None
    sys.path.insert(0, str(TOP))
    from tests.viewer.support import Browser

    return Browser(str(shutil.which("chromium")), str(shutil.which("chromedriver")))


def browse(top: Path) -> None:
    """Opening, seeking and searching, in headless Chromium."""
    out, run = long_page(top)
    browser = new_browser()
    if browser is None:
        return
    from tests.viewer.support import until

    try:
        opened = []
        for _ in range(3):
            browser.driver.get("about:blank")
            begun = time.perf_counter()
            browser.driver.get(out.as_uri() + "#step=5000")
            until(lambda: browser.js(f"Boolean({READY})"), "open")
            opened.append(time.perf_counter() - begun)
        told(f"open {LONG:,} steps at step 5,000", f"{min(opened):.2f} s", "< 2 s")
        seek(browser)
        search(browser, out.as_uri())
        from_server(browser, run)
    finally:
        browser.close()


def seek(browser, where: str = "") -> None:
    """Jump to 60 places that have not been shown yet."""
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before = page_seconds(browser)
    middle, high = browser.driver.execute_async_script(SEEK)
    told(f"{where}seek, processor time of the page", f"{1000 * (page_seconds(browser) - before) / 60:.0f} ms")
    told(f"{where}seek, median of 60 places", f"{middle:.0f} ms", "< 50 ms")
    told(f"{where}seek, 95th of 100", f"{high:.0f} ms", "< 50 ms")


def page_seconds(browser) -> float:
    """Processor time of the page's main thread."""
    found = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(each["value"] for each in found if each["name"] == "TaskDuration")


def from_server(browser, run: Path) -> None:
    """The same for the served page opened cold: its server has just started and has rebuilt nothing."""
    for name, step in (("first", 0), ("middle", LONG // 2)):
        with served(run) as server:
            address = f"{server.address}#step={step}"
            shown_after(browser, address, step, f"served: the {name} step", server)
            if step:
                until_rebuilt(browser)
                told("served: all steps rebuilt, from the command on", server.spent(), "< 10 s")
                seek(browser, "served: ")
                told("served: after the seeks", server.spent())
                browser.driver.get("about:blank")
                search(browser, server.address, "served: ")


def shown_after(browser, address: str, step: int, what: str, server: "Server") -> None:
    """Open a step of an episode and report the time from the server's start to its display."""
    from tests.viewer.support import until

    number = "document.querySelector('.count input')?.value"
    browser.driver.get("about:blank")
    browser.driver.get(address)
    if step:
        until(lambda: browser.js(f"Boolean({EARLY}) || Boolean({READY})"), "first look")
        told(f"{what}, its screen and answer", server.spent(), "< 2 s")
    until(lambda: browser.js(f"Boolean({READY}) && {number} === '{step}'"), what)
    told(f"{what}, from the command on", server.spent(), "" if step else "< 2 s")


def until_rebuilt(browser) -> None:
    from tests.viewer.support import until

    last = "Number(document.querySelector('.controls input[type=range]').max)"
    until(lambda: browser.js(f"{last} >= {LONG}"), "rebuilt")


class Server:
    """A server for a run."""

    def __init__(self, run: Path) -> None:
        self.begun = time.perf_counter()
        self.process, self.address = serve(run)

    def spent(self) -> str:
        """Seconds since its command, and its processor time: it yields to whatever else is running."""
        found = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = sum(map(int, found[11:15])) / os.sysconf("SC_CLK_TCK")
        return f"{time.perf_counter() - self.begun:.2f} s ({ticks:.2f} s of processor)"


@contextmanager
def served(run: Path) -> Iterator[Server]:
    """Serve a run for a while."""
    server = Server(run)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


def serve(run: Path) -> tuple["subprocess.Popen[str]", str]:
    """A server for a run, and its address."""
    command = [sys.executable, "-m", "balrog_rag", "view", str(run), "--no-browser", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, server.stdout.readline().split(" on ")[1].split()[0]


def search(browser, address: str, where: str = "") -> None:
    """Search for a word in everything that the model read and wrote."""
    from tests.viewer.support import until

    note = "document.querySelector('.search [role=status]')?.textContent"
    begun = time.perf_counter()
    browser.driver.get(address + "#search=")
    until(lambda: browser.js(f"/searchable/.test({note})"), "unpacked")
    unpacking = time.perf_counter() - begun
    for words in ("horizontal", "zyzzyva"):
        browser.js(f"document.querySelector('.search input').value = {words!r}")
        browser.js("document.querySelector('.search input').dispatchEvent(new Event('input'))")
        until(
            lambda words=words: browser.js(f"location.hash.includes({words!r}) && / at /.test({note})"), words
        )
        time.sleep(0.5)
        told(f"{where}search for {words!r}", browser.js(note), f"< 1 s for {SEARCHED:,} characters")
    told(f"{where}  unpacked before the first search", f"{unpacking:.1f} s")


def live(top: Path) -> None:
    """A run of many episodes with and without a viewer following one of them; returns the viewer's share."""
    words = ["model=scripted", "agent=cot", "env.episodes=16", "env.no_progress=0", "limits.steps=100"]
    words += ["model.options.latency=0.1"]  # as a fast provider answers
    alone, watched = [], []
    for attempt in range(2):
        alone.append(timed(top, f"alone{attempt}", words, watch=False))
        watched.append(timed(top, f"watched{attempt}", words, watch=True))
    share = min(watched) / min(alone) - 1
    told(
        "a run while one of its 16 episodes is followed, over the same alone",
        f"{100 * share:+.1f} %",
        "< 2 %",
    )


def timed(top: Path, name: str, words: list[str], watch: bool) -> float:
    """Seconds of play of a run, from its first journal to its end."""
    command = [
        sys.executable,
        "-m",
        "balrog_rag.eval",
        *words,
        f"run.folder={top}",
        f"run.name={name}",
        "runner.log=none",
    ]
    process = subprocess.Popen(command, cwd=top, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not journals(top / name) and process.poll() is None:
        time.sleep(0.01)
    begun, ended = time.perf_counter(), list[float]()
    waiter = threading.Thread(target=lambda: (process.wait(), ended.append(time.perf_counter())))
    waiter.start()
    if watch:
        asyncio.run(follow(top / name, process))
    waiter.join()
    return ended[0] - begun


async def follow(run: Path, process: "subprocess.Popen[bytes]") -> None:
    """Poll as a page does, once a second, until the run has ended."""
    import aiohttp

    server, address = await asyncio.to_thread(serve, run)
    try:
        async with aiohttp.ClientSession() as session:
            while process.poll() is None:
                async with session.get(f"{address}data/0/head?steps=0") as answer:
                    await answer.read()
                await asyncio.sleep(1)
    finally:
        server.terminate()
        server.wait()


BABYAI = [f"babyai/BabyAI-MixedTrainLocal-v0/{each}" for each in ("goto", "pickup", "open", "putnext")]
BABA = [f"babaisai/env/{each}" for each in ("make_win", "goto_win", "two_room-goto_win", "two_room-make_win")]
HACK = [
    f"minihack/MiniHack-{each}-v0" for each in ("MazeWalk-9x9", "Corridor-R3", "Quest-Easy", "Quest-Medium")
]
MIXED = [*BABYAI, *BABA, *HACK, "nle/NetHackChallenge-v0", "crafter/default"]
ROUNDS = 2
EPISODES = 72  # of each of the 14 tasks: 1,008


def many(top: Path) -> None:
    """A page of 1,000 episodes of 30 steps: the processor time of writing it, and serving it."""
    run = RUN or short_episodes(top)
    count = len(journals(run))
    seconds = {checkout: [] for checkout in (TOP, *AGAINST)}
    for _ in range(ROUNDS):
        for checkout, found in seconds.items():  # in turn: another program slows both down
            found.append(processor(checkout, "view", str(run), "--out", str(top / "many.html")))
    told(f"view --out of {count:,} episodes, processor time", f"{min(seconds[TOP]):.1f} s", "< 15 s")
    told("  one episode", f"{1000 * min(seconds[TOP]) / count:.1f} ms")
    for checkout in AGAINST:
        told(f"  the same in {checkout}", f"{min(seconds[checkout]):.1f} s")
        told("  ratio", f"{min(seconds[TOP]) / min(seconds[checkout]):.2f}")
    opened_cold(run)


def short_episodes(top: Path) -> Path:
    words = ["model=scripted", f"env.tasks=[{','.join(MIXED)}]", "env=balrog", f"env.episodes={EPISODES}"]
    command = [sys.executable, "-m", "balrog_rag.eval", *retrieving(top), *words, "limits.steps=30"]
    command += [f"run.folder={top}", "run.name=many", "run.csv=false", "runner.log=none"]
    subprocess.run(command, check=True, capture_output=True, cwd=top)
    return top / "many"


def processor(checkout: Path, *words: str) -> float:
    """Seconds of processor of a command of the program in a checkout."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, "-m", "balrog_rag", *words]
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=checkout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


LISTED = "document.querySelectorAll('.list tbody tr').length > 0"
MAPPED = "document.querySelector('.runmap svg') && !document.querySelector('.glance .waiting')"


def opened_cold(run: Path) -> None:
    """The list, map and first episode of a served run whose index was deleted, and again with it."""
    browser = new_browser()
    if browser is None:
        return
    from tests.viewer.support import until

    try:
        for how in ("without index", "with index"):
            if how == "without index":
                (run / INDEX).unlink(missing_ok=True)
            with served(run) as server:
                browser.driver.get(server.address)
                until(lambda: browser.js(LISTED), "list")
                said = f"served, {how}: "
                told(f"{said}the list, from the command on", server.spent(), "< 2 s")
                until(lambda: browser.js(f"Boolean({MAPPED})"), "map")
                told(f"{said}the whole run map", server.spent())
                first = f"{server.address}#episode={quote(listed([run])[0].key)}&step=0"
                shown_after(browser, first, 0, f"{said}then the first episode", server)
    finally:
        browser.close()


def worlds(top: Path) -> None:
    """The processor time of three worlds of Crafter, which every replay of such an episode makes anew."""
    from balrog_rag.envs.crafter.world import World

    for seed in (1, 2, 3):
        begun = time.process_time()
        World(seed).start()
        told(f"world of Crafter, seed {seed}", f"{time.process_time() - begun:.2f} s")


def told(what: str, figure: str, target: str = "") -> None:
    print(f"{what:70} {figure:>28}  {target}", flush=True)


PARTS: dict[str, Callable[[Path], None]] = {
    "size": size,
    "browse": browse,
    "live": live,
    "many": many,
    "worlds": worlds,
}
RUN: Path | None = None
AGAINST: list[Path] = []


def main() -> None:
    global RUN
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--run", type=Path, help="with many: a run of short episodes")
    parser.add_argument(
        "--against", type=Path, action="append", default=[], help="with many: another checkout"
    )
    options = parser.parse_args()
    RUN = options.run
    AGAINST.extend(options.against)
    with tempfile.TemporaryDirectory(prefix="balrog-rag-bench-") as top:
        for name in options.parts or PARTS:
            PARTS[name](Path(top))


if __name__ == "__main__":
    main()
