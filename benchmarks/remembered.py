"""Does `env.renamed` separate what a player remembers from what it reads? Two players, four arms each.

    PYTHONPATH=. python benchmarks/remembered.py [GAMES] [FOLDER]

A level of MiniHack has two ways to the stairs, and a monster that does not move on each: a lichen, or a blue
jelly, which harms whoever hits it. Which is where is drawn from the game's seed. The first player knows by
heart which monsters are dangerous to touch. The second knows no names: it looks up what it sees, and avoids
what a passage of the knowledge base calls dangerous to touch. Both answer as a model does: from the prompt.
"""

import re
import sys
import tempfile
from pathlib import Path

from balrog_rag.api.run_api import Run, evaluate
from balrog_rag.contracts.data import Reply, Request, Usage
from balrog_rag.results.contrasts import contrast_results
from balrog_rag.results.experiments import find
from balrog_rag.results.runs import load

LEVEL = """MAZE: "mylevel", ' '
FLAGS: noteleport,hardfloor,premapped
GEOMETRY: center,center
MAP
-----------
|.........|
|.}}}}}}}.|
|.........|
-----------
ENDMAP
REGION:(0,0,10,4),lit,"ordinary"
BRANCH:(1,2,1,2),(0,0,0,0)
STAIR:(9,2),down
$place = { (5,1),(5,3) }
SHUFFLE: $place
MONSTER:('j',"blue jelly"),$place[0]
MONSTER:('F',"lichen"),$place[1]
"""
TASK = "minihack/MiniHack-Navigation-Custom-v0"
SEED = 7
REMEMBERED = ("blue jelly", "spotted jelly", "brown mold", "green mold", "red mold", "yellow mold")
SEEN = re.compile(r"^(.+?) (?:very far|far|near|very near|adjacent) (.*)$", re.MULTILINE)
PLACE = re.compile(r"\(x=(\d+), y=(\d+)\)")
FEATURES = re.compile(r"wall|water|pool|stair|dark|door|corner|area|yourself", re.IGNORECASE)
PASSAGE = re.compile(r"^([^\n]+) \(monster\)\n(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
DANGER = "Danger when you hit or touch it"


class RuleBased:
    """Walks to the stairs by the way that it believes to be safe."""

    def __init__(self, reads: bool) -> None:
        self.name = "reader" if reads else "by heart"
        self._reads = reads

    async def complete(self, request: Request) -> Reply:
        """Answer from the prompt alone."""
        whole = "\n\n".join(message.text for message in request.messages)
        now = request.messages[-1].text
        query = f"Query: {', '.join(self.things(now))}"
        text = query if request.purpose == "query" else self.action(whole, now)
        return Reply(text, usage=Usage(len(whole) // 4, len(text) // 4 + 1), cost=0.0)

    def things(self, now: str) -> dict[str, str]:
        """What is in view and may be a monster, with its direction."""
        found = {name.lower(): where for name, where in SEEN.findall(now)}
        return {name: where for name, where in found.items() if not FEATURES.search(name)}

    def dangerous(self, whole: str) -> set[str]:
        """The names that it believes to be dangerous to touch."""
        if not self._reads:
            return set(REMEMBERED)
        return {name.lower() for name, text in PASSAGE.findall(whole) if DANGER in " ".join(text.split())}

    def action(self, whole: str, now: str) -> str:
        """One step on the way."""
        x, y = map(int, PLACE.findall(now)[-1])
        west, east, middle = COLUMNS[0], COLUMNS[1], ROW
        if y != middle:
            return "east" if x < east else "south" if y < middle else "north"
        if x != west:
            return "east"
        dangerous = self.dangerous(whole)
        bad = [where for name, where in self.things(now).items() if name in dangerous]
        return "south" if any("north" in where for where in bad) else "north"


COLUMNS, ROW = (35, 43), 12
"""Where the level lies on the map: its westernmost and easternmost columns, and the row between the ways."""

ARMS = {
    "original": [],
    "original_retrieval": ["agent=naive_rag"],
    "renamed": [f"env.renamed={SEED}"],
    "renamed_retrieval": ["agent=naive_rag", f"env.renamed={SEED}"],
}
SHARED = [
    f"env.tasks=[{TASK}]", "env.character=tou-hum-neu-fem", "limits.steps=60", "agent.retrieval.query=model",
    "agent.retrieval.context=whole", "agent.retrieval.reuse=seen", "agent.retrieval.k=4",
    "knowledge.index=bm25", "agent.max_text_history=1", "run.csv=false", "runner.log=none",
]  # fmt: skip


def main() -> None:
    """Play both players in all arms, and print the table."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    top = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp())
    for reads in (False, True):
        player = RuleBased(reads)
        runs: dict[str, Run] = {}
        for arm, words in ARMS.items():
            agent = ["agent=naive", *words] if not any(word.startswith("agent=") for word in words) else words
            level = "env.options.des_file='" + LEVEL.replace("'", "\\'") + "'"
            own = [*agent, *SHARED, level, f"env.episodes={games}"]
            runs[arm] = evaluate(*own, model=player, folder=top / player.name.replace(" ", "_") / arm)
        print(f"{player.name}:")
        for arm, run in runs.items():
            scores = run.episodes["progression_percent"]
            print(f"  {arm:<19} {scores.mean():6.2f} % of {len(scores)} games")
        described = find("remembered")
        assert described is not None
        played = {arm: load(run.folder).episodes for arm, run in runs.items()}
        for found in contrast_results(described, played):
            print(f"  {found.line}")


if __name__ == "__main__":
    main()
