"""`balrog_rag.check`: the examples have no finding, and each way to break a contract is found."""

import importlib.util
import pickle
import random
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

import balrog_rag
from balrog_rag.agents.base import BaseAgent
from balrog_rag.contracts.commands import Command
from balrog_rag.contracts.data import GameSpec, Observation, Part, Reply, Transition, digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import (
    AgentHints,
    Column,
    DisplayHints,
    EnvironmentKind,
    Measure,
    Numbers,
    Sampling,
    Scoring,
    Share,
)
from balrog_rag.contracts.programs import Begin, ProgramKind
from balrog_rag.contracts.statistics import Statistic
from tests.api.faulty_game import LAST, Corridor, made

TOP = Path(__file__).parents[2]
EXAMPLES = [
    ("game", "GUESS"), ("agent", "Noting"), ("skill", "STRIDE"), ("statistic", "REPETITION"),
    ("statistic", "MEDIAN_STEPS"), ("watcher", "InvalidAnswers"), ("command", "LONGEST"),
]  # fmt: skip


def example(name: str) -> Any:
    path = TOP / "examples" / f"extend_{name}.py"
    spec = importlib.util.spec_from_file_location(f"checked_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "attribute"), EXAMPLES)
def test_the_examples_have_no_finding(name: str, attribute: str) -> None:
    assert balrog_rag.check(getattr(example(name), attribute)) == []


def changed(seen: Observation, **fields: Any) -> Observation:
    return msgspec.structs.replace(seen, **fields)


class Sound(Corridor):
    """A sound game, which the others below break."""

    def __init__(self, spec: GameSpec) -> None:
        super().__init__(spec)
        self.most = spec.max_steps

    def step(self, action: str) -> Transition:
        done = super().step(action)
        over = not done.ended and self.steps >= self.most
        return msgspec.structs.replace(done, ended="steps") if over else done

    def close(self) -> None:
        pass


class Rolls(Sound):
    def seen(self, faulty: str = "") -> Observation:
        rolled = str(random.random())
        return changed(super().seen(), parts=(Part("roll", rolled),), digest=digest(rolled))


class Counts(Sound):
    games: ClassVar = [0]

    def seen(self, faulty: str = "") -> Observation:
        self.games[0] += 1
        return changed(super().seen(), digest=digest(str(self.games)))


class Undigested(Sound):
    def seen(self, faulty: str = "") -> Observation:
        return changed(super().seen(), digest="")


class Alike(Sound):
    def seen(self, faulty: str = "") -> Observation:
        return changed(super().seen(), digest="always")


class Doubled(Sound):
    def seen(self, faulty: str = "") -> Observation:
        return changed(super().seen(), parts=(Part("a", ""), Part("a", "")))


class Grows(Sound):
    def seen(self, faulty: str = "") -> Observation:
        numbers = {"at": self.at} | ({"door": 1} if self.steps else {"key": 1})
        return changed(super().seen(), numbers=numbers)


class Pictured(Sound):
    def seen(self, faulty: str = "") -> Observation:
        return changed(super().seen(), pictures=(b"png",))


class Endless(Sound):
    def step(self, action: str) -> Transition:
        self.at = 0
        return msgspec.structs.replace(super().step("west"), ended="")


class Unpickles(Sound):
    def step(self, action: str) -> Transition:
        pickle.loads(pickle.dumps(Fraction(1, 2)))  # noqa: S301 - it must be found
        return super().step(action)


class Held(Sound):
    def __init__(self, spec: GameSpec) -> None:
        super().__init__(spec)
        self.file = open(__file__)  # noqa: SIM115 - it is never closed
        KEPT.append(self.file)


class Threaded(Sound):
    def __init__(self, spec: GameSpec) -> None:
        super().__init__(spec)
        threading.Thread(target=OVER.wait, daemon=True).start()


class ClosesOnce(Sound):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class ReturnsFloat(Sound):
    def seen(self, faulty: str = "") -> Observation:
        return changed(super().seen(), numbers={"at": self.at + 0.5})


class Falls(Share):
    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        self.value = numbers["at"] / LAST


KEPT: list[Any] = []
OVER = threading.Event()
KIND = replace(made("odd"), tasks=lambda: ["sound"], make=lambda spec, recording: Sound(spec))


def kind(game: type | None = None, **fields: Any) -> EnvironmentKind:
    return replace(KIND, **fields, **({"make": lambda spec, recording: game(spec)} if game else {}))


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (kind(), ""),
        (kind(Rolls), "sound, seed 0, step 0 (action ''): observation.parts differs when the same "),
        (kind(Counts), "observation.digest differs when the same game is played again"),
        (kind(Undigested), "sound, observation 0: no digest; use digest(text)"),
        (kind(Alike), "has the digest of another observation; include everything that it shows"),
        (kind(Doubled), "sound, observation 0: two parts have one name (a, a); name them apart"),
        (kind(Grows), "sound, observation 1: lacks numbers key; return all of them every time"),
        (kind(Grows), "sound, observation 1: adds numbers door; return them from the first one on"),
        (kind(Pictured), "has a picture, but hints.pictures() says that there is none"),
        (kind(Endless), "sound: goes on after its max_steps (20); end it there with 'steps'"),
        (kind(Unpickles), "the game unpickles an object, which can run code; keep data as JSON"),
        (kind(Held), "close() leaves open files behind: 3 after 3 games; close them there"),
        (kind(Threaded), "close() leaves threads behind: 3 after 3 games; close them there"),
        (kind(ClosesOnce), "close() fails when called twice (RuntimeError: closed already)"),
        (kind(ReturnsFloat), "environment 'odd': reset().observation.numbers['at'] is 0.5; use an integer"),
        (kind(max_steps=lambda task: 400 if task else 0, make=lambda spec, recording: Sound(
            msgspec.structs.replace(spec, max_steps=3))), "ended 'steps' after 3 keys, max_steps is"),
        (kind(progress=lambda spec: Falls()), "progress.value falls before the end; keep the highest"),
        (kind(scoring=Scoring(solved_or_not=True), progress=lambda spec: Half()), "is 0.5, but scoring"),
        (kind(scoring=Scoring(measures=(Measure("far", "far", "m", "at", high=0.5),))),
         "measure 'far', value 1: at goes above high=0.5; raise it"),
        (kind(scoring=Scoring(measures=(Measure("far", "far", "m"),))),
         "environment 'odd', measure 'far': give either number=NAME or follow=FUNCTION"),
        (kind(tasks=lambda: ["sound", "sound"]), "tasks() returns 'sound' twice; return each task once"),
        (kind(tasks=lambda: []), "tasks() returns none; return every task's name"),
        (kind(tasks=lambda: None), "environment 'odd': tasks() is None; return a list of str"),
        (kind(sampling=Sampling(listed=("loud",))), "sampling.listed has 'loud', which tasks() lacks"),
        (kind(sampling=Sampling(identity=lambda spec: str(random.random()))), "sampling.identity() differs"),
        (kind(display=DisplayHints(columns=(Column("at", 1, lambda numbers: "far away"),))),
         "display column 'at' has width 1, 'far away' is longer; widen it"),
        (kind(display=DisplayHints(danger=lambda numbers: None)),
         "environment 'odd': display.danger() is None; return True or False"),
        (kind(hints=AgentHints(prompts=lambda: {"instruction": "{{ nothing }}"})), "'nothing' is undefined"),
    ],
)  # fmt: skip
def test_a_faulty_game_is_found(odd: EnvironmentKind, said: str) -> None:
    OVER.clear()
    found = balrog_rag.check(odd)
    OVER.set()
    for file in KEPT:
        file.close()
    assert [said in line for line in found].count(True) == (1 if said else 0), found
    assert said or found == []


class Half(Share):
    """Progression that is neither 0 nor 1."""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        self.value = 0.5


class Unfillable(BaseAgent):
    own_prompts: ClassVar = {"instruction": "{{ goal }} {{ nothing }}"}


class Trusting(BaseAgent):
    def read(self, reply: Reply) -> Any:
        if "fly" in reply.text:
            raise KeyError("fly")
        return super().read(reply)


class Moody(BaseAgent):
    def instruction(self) -> str:
        return f"{super().instruction()} {random.random()}"


class Mute:
    name = "mute"

    def __init__(self, config: Any = None) -> None:
        pass

    async def complete(self, request: Any) -> Any:
        return None

    async def close(self) -> None:
        pass


def fails(event: Any) -> None:
    raise ValueError("no")


def program(make: Callable[[Begin], Any], **fields: Any) -> ProgramKind:
    return ProgramKind(name="odd_program", make=make, **fields)


def presses_nothing_known(begin: Begin) -> Any:
    yield 1.5


def returns_a_number(begin: Begin) -> Any:
    yield "east"
    return 3


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (Unfillable, "'nothing' is undefined"),
        (Trusting, "in read: KeyError: 'fly'"),
        (Moody, "the act prompt differs from the one that was answered"),
        (Mute, "complete() is None; return a Reply"),
        (Mute(), "complete() is None; return a Reply"),
        (fails, "watcher fails failed: "),
        (program(presses_nothing_known), "program 'odd_program': yield is 1.5; yield an"),
        (program(presses_nothing_known, plays=True), "program 'odd_program': yield is 1.5; yield an"),
        (program(returns_a_number), "program 'odd_program': return is 3; return a text"),
        (program(lambda begin: "east"), "program 'odd_program': make() is 'east'; write it"),
        (Statistic(name="odd", episode=lambda each: 101.0, high=100.0), "statistic 'odd': episode() is 101"),
        (Statistic(name="odd", episodes=lambda episodes: episodes[1]), "statistic 'odd': episodes() "),
        (Command(name="odd", help="odd", run=lambda words: 0), "command 'odd': run(['--help']) prints"),
        (Command(name="odd", help="odd", run=lambda words: words[1]),
         "command 'odd': run(['--help']) raised "),  # type: ignore[arg-type, return-value]
        (Command(name="odd", help="odd", run=lambda words: None),
         "command 'odd': run(['--help']) ends with None; print"),  # type: ignore[arg-type, return-value]
    ],
)  # fmt: skip
def test_another_faulty_plugin_is_found(odd: Any, said: str) -> None:
    found = balrog_rag.check(odd)
    assert len(found) >= 1
    assert said in found[0]


def test_a_check_leaves_nothing_registered() -> None:
    before = balrog_rag.register, [*EXAMPLES]
    assert balrog_rag.check(kind()) == []
    assert before
    with pytest.raises(ConfigError, match="unknown plug-in 'odd'"):
        balrog_rag.check("odd")
    with pytest.raises(ConfigError, match="3: cannot be checked; pass a registered name"):
        balrog_rag.check(3)
