"""The action `run_code`: code that plays with the game's keys and skills.

What the code did, its keys and skill calls, is journaled with the step. A replay does that again and never
runs code, so a run folder of somebody else runs none either.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from balrog_rag.code_actions.code_interpreter import Interpreter, Run
from balrog_rag.code_actions.code_syntax import LONGEST_CODE, CodeRefused, checked
from balrog_rag.contracts.data import Call, Parameter
from balrog_rag.contracts.programs import Begin, Program, ProgramFailed, ProgramKind

NAME = "run_code"
OBSERVE = "?observe"
"""A look at the game, as it is recorded; looks are repeated too, since a game may keep account of them."""
MOST_COMMANDS = 300
"""Keys, skill calls and looks of one action."""
LONGEST_REPORT = 3000
LONGEST_ATTACHED = 400_000


class Attached(msgspec.Struct):
    """What an agent sends along with code: its functions, and what its searches found."""

    library: dict[str, str] = {}
    found: dict[str, list[str]] = {}


class CodeGame:
    """The game as code sees it; everything that is done is recorded."""

    def __init__(self, begin: Begin) -> None:
        self._begin, self._screen, self._names = begin, begin.screen, begin.names
        self._programs = {name: kind for name, kind in begin.programs.items() if name != NAME}

    def command(self, text: str) -> Run:
        """Do one thing and record it; return the message, the skill's report, or what is seen."""
        begin = self._begin
        if len(begin.commands) >= MOST_COMMANDS:
            raise CodeRefused(f"more than {MOST_COMMANDS} keys, skills and looks in one action")
        begin.commands.append(text)
        if text == OBSERVE:
            return self._seen()
        taken = begin.view.read(text)
        if isinstance(taken, Call) and taken.name in self._programs:
            return (yield from self._skill(self._programs[taken.name], taken))
        if taken is None or isinstance(taken, Call):
            raise CodeRefused(f"{text[:40]!r} is not an action of this game")
        self._screen = yield text
        return begin.heard()

    def _seen(self) -> dict[str, Any]:
        seen = self._begin.look()
        return {**{part.name: self._shown(part.text) for part in seen.parts}, "numbers": dict(seen.numbers)}

    def _shown(self, text: str) -> str:
        """Return a text of the game in the player's names."""
        return text if self._names is None else self._names.rename(text)

    def _meant(self, value: Any) -> Any:
        """Return what code passes to the game in the game's own names."""
        return self._names.restore(value) if self._names is not None and isinstance(value, str) else value

    def _skill(self, kind: ProgramKind, call: Call) -> Run:
        begin = self._begin
        seed = begin.seed + len(begin.commands)
        program = kind.make(replace(begin, screen=self._screen, arguments=kind.takes(call), seed=seed))
        try:
            press = next(program)
            while True:
                self._screen = yield press
                if kind.interruptible and (event := begin.event()):
                    return f"interrupted: {event}"
                press = program.send(self._screen)
        except StopIteration as stop:
            return str(stop.value or "done")
        except ProgramFailed as failure:
            return f"failed: {failure}"
        finally:
            program.close()

    def commands(self, found: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return the functions of the API by name."""

        def press(given: Sequence[Any], named: Mapping[str, Any]) -> Run:
            if len(given) != 1 or named or not isinstance(given[0], str):
                raise CodeRefused("press takes one action of the game, as in press('north')")
            return self._shown((yield from self.command(self._meant(given[0]))))

        def observe(given: Sequence[Any], named: Mapping[str, Any]) -> Run:
            if given or named:
                raise CodeRefused("observe takes no arguments")
            return (yield from self.command(OBSERVE))

        def memory(given: Sequence[Any], named: Mapping[str, Any]) -> Run:
            if given or named:
                raise CodeRefused("memory takes no arguments")
            return (yield from self.command(OBSERVE)).get("memory", "")

        def search(given: Sequence[Any], named: Mapping[str, Any]) -> Run:
            yield from ()
            return list(found.get(str(given[0]) if given else "", ()))

        api = {"press": press, "observe": observe, "memory": memory, "search": search}
        return {**{self._shown(name): self._called(kind) for name, kind in self._programs.items()}, **api}

    def _called(self, kind: ProgramKind) -> Any:
        def call(given: Sequence[Any], named: Mapping[str, Any]) -> Run:
            arguments = [self._meant(each) for each in given]
            by_name = {name: self._meant(each) for name, each in named.items()}
            return self._shown((yield from self.command(written(kind, arguments, by_name))))

        return call


def written(kind: ProgramKind, given: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return a skill's call as an action; raise CodeRefused if its arguments do not fit."""
    names = [each.name for each in kind.parameters]
    arguments = dict(zip(names, given, strict=False))
    fits = len(given) <= len(names) and not {*named} - {*names} and not {*named} & {*arguments}
    arguments |= named
    listed = [arguments[name] for name in names if name in arguments]
    plain = all(isinstance(each, str | int) and not isinstance(each, bool) for each in listed)
    if fits and plain:
        call = Call(kind.name, tuple(listed))
        if kind.action.admits(call):
            return call.text
    raise CodeRefused(
        f"{kind.name}: takes {kind.action.form.removeprefix(kind.name).strip() or 'no arguments'}"
    )


def run_code(begin: Begin) -> Program:
    """Run the code, or repeat what was recorded of it."""
    game = CodeGame(begin)
    if begin.repeated is not None:
        return (yield from _repeat(game, begin.repeated))
    attached = attached_of(begin.attached)
    interpreter = Interpreter(game.commands(attached.found))
    try:
        library = [checked(source) for source in attached.library.values()]
        yield from interpreter.run(checked(str(begin.arguments["code"])), library)
    except CodeRefused as refused:
        raise ProgramFailed(_report(str(refused), interpreter)) from None
    return _report("done", interpreter)


def _repeat(game: CodeGame, commands: Sequence[str]) -> Program:
    try:
        for text in commands:
            yield from game.command(text)
    except CodeRefused as refused:
        raise ProgramFailed(str(refused)) from None
    return "done"


def attached_of(text: str) -> Attached:
    """Return what came along with code; nothing if it cannot be read."""
    try:
        return msgspec.json.decode(text[:LONGEST_ATTACHED] or "{}", type=Attached)
    except msgspec.DecodeError:
        return Attached()


def attached(library: Mapping[str, str], found: Mapping[str, Sequence[str]]) -> str:
    """Return functions and search results as they are sent along with code."""
    return json.dumps({"library": library, "found": found}) if library or found else ""


def _report(how: str, interpreter: Interpreter) -> str:
    said = interpreter.output
    return (f"{how}; it printed:\n{said}" if said else how)[:LONGEST_REPORT]


RUN_CODE = ProgramKind(
    name=NAME,
    make=run_code,
    says="run a short program in a small part of Python",
    parameters=(Parameter("code", "code", most=LONGEST_CODE),),
    interruptible=False,
    records=True,
)
