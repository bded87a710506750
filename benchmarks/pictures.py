"""Make the pictures of README.md from real runs: `PYTHONPATH=. python benchmarks/pictures.py`.

Plays two bots and random actions in the same games of NetHack, and one short episode with retrieval and the
scripted model; then takes pictures of the report and the viewer in Chromium, which must be installed.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

import balrog_rag

PICTURES = Path(__file__).parents[1] / "docs/pictures"
ARMS = {
    "stairs": ("agent=delver", "agent.options.dig=false"),
    "random": ("agent=random",),
    "delver": ("agent=delver",),
}
GAMES = ("env=nethack", "env.episodes=20", "limits.steps=2000", "runner.log=none")
EPISODE = (
    "agent=robust_star_rag",
    "model=scripted",
    "env=nethack",
    "env.episodes=1",
    "limits.steps=30",
    "run.seed=2",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"),
)
COLOURS = 96


def main() -> None:
    """Play, write the pages, and take their pictures."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"{', '.join(BROWSERS)}: none is installed; install Chromium")
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", type=Path, help="folder for runs and pages (default: a temporary one)")
    options.add_argument("--only", choices=PAGES, help="make one picture (default: all)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (chosen.keep or Path(temporary)).resolve()
        for name, (page, size) in PAGES.items():
            if chosen.only in (None, name):
                take(browser, page(work), size, PICTURES / f"{name}.png")


def verdict(work: Path) -> str:
    """Play the bots, and return the address of their report."""
    runs = [balrog_rag.evaluate(*arm, *GAMES, folder=work / name) for name, arm in ARMS.items()]
    report = runs[0].report(*runs[1:], out=work / "report", title="Two bots and random actions")
    return f"file://{report.path}"


def viewer(work: Path) -> str:
    """Play the episode, and return the address of a step in it."""
    episode = balrog_rag.evaluate(*EPISODE, "runner.log=none", folder=work / "episode")
    view = episode.view(0, out=work / "episode.html")
    return f"file://{view.path}#step=12"


PAGES = {"verdict": (verdict, (1260, 640)), "viewer": (viewer, (1280, 800))}
"""Name of each picture, what makes its page, and the size of the browser's window."""


def take(browser: str, address: str, size: tuple[int, int], out: Path) -> None:
    """Take a picture of a page, with few colours so that the file is small."""
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        subprocess.run(
            [
                *(browser, *QUIET, f"--user-data-dir={folder}/profile", f"--window-size={size[0]},{size[1]}"),
                *("--virtual-time-budget=8000", f"--screenshot={shot}", address),
            ],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        picture = Image.open(BytesIO(shot.read_bytes())).convert("RGB").quantize(COLOURS)
        out.parent.mkdir(parents=True, exist_ok=True)
        picture.save(out, optimize=True)
        print(f"{out}: {out.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
