"""How long importing a whole wiki takes, and its memory: a generated dump of this many pages.

python benchmarks/dump.py --pages 20000
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from balrog_rag.util.paths import data

PAGE = """{version}{lead} costs {{{{frac|1|3}}}} and lasts {{{{plural|3|turn}}}}. [[Link {n}|text]] '''bold'''
== Table ==
{{| class="wikitable"
! Name !! Value
|-
| a || {n}
|-
| style="x" | b || {{{{white|@}}}}
|}}
== More ==
{more}
=== Deep ===
{deep}
{{{{monster|name=x|level={level}|speed=12}}}}
"""


def entries(count: int) -> Iterator[str]:
    """Pages with tables and templates, discussion pages, other namespaces, and redirects."""
    dice = random.Random(1)
    words = (data("wiki_index") / "guide" / "food.md").read_text().split()
    for n in range(count):
        if n % 9 == 0:
            yield f'<page><title>Also {n}</title><ns>0</ns><redirect title="Page {n + 1}"/></page>\n'
            continue
        space = dice.choice([0] * 7 + [1, 2, 10])
        lead, more, deep = (" ".join(dice.choices(words, k=k)) for k in (60, 150, 150))
        version = "{{nethack-367}}\n" if n % 3 == 0 else ""
        text = PAGE.format(version=version, lead=lead, more=more, deep=deep, n=n, level=n % 30)
        safe = text.replace("&", "&amp;").replace("<", "&lt;")
        head = f"<page><title>Page {n}</title><ns>{space}</ns>"
        yield f"{head}<revision><text>{safe}</text></revision></page>\n"


def main() -> None:
    """Make the dump, import it in a separate process, and print time and memory."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=20_000)
    count = options.parse_args().pages
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump.xml"
        with dump.open("w") as file:
            file.write("<mediawiki>\n")
            file.writelines(entries(count))
            file.write("</mediawiki>\n")
        words = ["corpus", "import", "nethackwiki", str(dump), "--talk", "--version", "3.7"]
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "balrog_rag.knowledge", *words],
            check=True, env={**os.environ, "BALROG_RAG_CACHE": f"{folder}/cache"},
        )  # fmt: skip
        took, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        size = dump.stat().st_size / 1e6
        print(
            f"{count} pages, {size:.0f} MB: {took:.0f} s, {used.ru_utime:.0f} s of processor time, "
            f"{used.ru_maxrss / 1024:.0f} MB"
        )


if __name__ == "__main__":
    main()
