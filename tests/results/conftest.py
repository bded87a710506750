"""Run folders made from real journal lines, a few or thousands."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from balrog_rag.config.frozen import config_digest
from balrog_rag.contracts.data import GameSpec, Passage, Reply, Seeds, Usage
from balrog_rag.episode.journal import VERSION, Completion, End, Header, Lookup, Start, Step
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.results import run_folder
from tests.support import numbers, rechained

NETHACK = "nle/NetHackChallenge-v0"
ENCODE = msgspec.json.Encoder().encode


class RunBuilder:
    """Writes a run folder episode by episode.

    Its plan is empty, so whatever is written is complete, unless episodes of NetHack are `planned`.
    """

    def __init__(
        self,
        path: Path,
        agent: str = "robust_star",
        model: str = "scripted",
        planned: int = 0,
        limits: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.path = path
        self.agent = {"name": agent, "retrieval": {"enabled": True, "k": 3}, **settings}
        self.model = {"backend": "scripted", "name": model, "temperature": 1.0, "retry": {"attempts": 5}}
        env = {"tasks": [NETHACK], "episodes": planned} if planned else {"tasks": []}
        config = {"env": env, "agent": self.agent, "model": self.model}
        config |= {"limits": limits} if limits else {}
        self.digest = config_digest(config)
        run_folder.write_json(path / "config.json", {"digest": self.digest, "config": config})

    def journal(self, name: str) -> Path:
        return run_folder.journal_path(self.path, name)

    def nethack(
        self,
        number: int,
        climbs: Iterable[Mapping[str, int]] = (),
        seed: int | None = None,
        outcome: str = "died",
        task: str = NETHACK,
        character: str = "@",
        death: str = "killed by a newt",
        cost: float | None = 0.001,
    ) -> str:
        """Write an episode of NetHack with one step for each set of changed numbers."""
        name = f"{task}/{number:02d}"
        steps = []
        for n, moved in enumerate(climbs):
            steps += self._rag_step(n, {"turn": 10 * n + 10, **moved}, cost)
        count = len(steps) // 5
        facts = {"death": death if outcome == "died" else "", "xlogfile": {"points": 77}}
        return self.write(name, [*steps, End(outcome, count, facts, 2.5)], seed=seed, character=character)

    def minihack(self, task: str, number: int, solved: bool, steps: int = 3) -> str:
        """Write an episode of a MiniHack task."""
        name = f"minihack/{task}/{number:02d}"
        entries: list[Any] = [Step(n, "north", "north", "o", reward=-0.01) for n in range(steps - 1)]
        entries.append(Step(steps - 1, "east", "east", "o", reward=1.0 if solved else -0.01))
        return self.write(name, [*entries, End("solved" if solved else "steps", steps)])

    def write(self, name: str, entries: Iterable[Any], seed: int | None = None, character: str = "@") -> str:
        """Write any journal."""
        self.journal(name).parent.mkdir(parents=True, exist_ok=True)
        lines = [self.header(name, seed, character), self.start(), *entries]
        self.journal(name).write_bytes(rechained(b"".join(ENCODE(line) + b"\n" for line in lines)))
        return name

    def header(self, name: str, seed: int | None = None, character: str = "@", digest: str = "") -> Header:
        env, _, rest = name.partition("/")
        task, _, number = rest.rpartition("/")
        core = int(number) if seed is None else seed
        game = GameSpec(env, task, Seeds(core, core + 1), options={"character": character})
        spec = EpisodeSpec(name, game, PlayerSpec(self.agent, self.model, {"corpus": "minihack"}))
        return Header(VERSION, spec, spec.digest, digest or self.digest, {"balrog_rag": "0"})

    @staticmethod
    def start() -> Start:
        return Start("o", numbers(depth=1, experience_level=1, hp=12, max_hp=12, turn=1))

    @staticmethod
    def _rag_step(n: int, moved: Mapping[str, int], cost: float | None) -> list[Any]:
        passages = (Passage("p1", "Newt", "A newt is a yellow thing.", 0.5),)
        return [
            Completion(n, "query", "r1", Reply("newt", usage=Usage(100, 3), cost=cost, latency=0.1)),
            Lookup(n, f"newt {n % 2}", 3, passages if n else (), 0.002),
            Completion(
                n, "summary", "r2", Reply("Newts bite.", usage=Usage(300, 20), cost=cost, latency=0.2)
            ),
            Completion(n, "act", "r3", Reply("north", usage=Usage(1000, 30), cost=cost, latency=0.3)),
            Step(n, "north", "north", "o", numbers=moved, notes={"lookup": "fresh" if n else "no passages"}),
        ]


@pytest.fixture
def builder(tmp_path: Path) -> RunBuilder:
    """An empty run folder."""
    return RunBuilder(tmp_path / "run")


@pytest.fixture
def new_run(tmp_path: Path) -> Any:
    """Creates run folders by name."""
    return lambda name, **settings: RunBuilder(tmp_path / name, **settings)
