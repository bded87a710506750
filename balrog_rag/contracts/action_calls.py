"""Actions with arguments: how a call is written, parsed and checked."""

from typing import Literal

import msgspec

LONGEST_NUMBER = 18
"""Longest number, in characters, accepted as an argument."""


class Call(msgspec.Struct, frozen=True):
    """An action with its arguments."""

    name: str
    arguments: tuple[int | str, ...] = ()
    attached: str = ""
    """What its agent sends along with it, which its text does not have."""
    repeated: tuple[str, ...] | None = None
    """What it did when it was recorded, which is done again in its place."""
    stopped: str = ""
    """Why it stopped then."""

    @property
    def text(self) -> str:
        """The call as an answer writes it: `rest 40`."""
        return " ".join(map(str, [self.name, *self.arguments]))


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument of an action."""

    name: str
    kind: Literal["integer", "word", "text", "code"] = "integer"
    """An integer, one word, the rest of the answer, or the rest of it with its line breaks."""
    says: str = ""
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    """The allowed words; empty: any."""
    optional: bool = False

    def read(self, text: str) -> int | str | None:
        """Parse an argument; return None if it is invalid."""
        if self.kind == "code":
            return text if self.admits(text) else None
        if self.kind != "integer":
            return text if text and (not self.choices or text in self.choices) else None
        if len(text) > LONGEST_NUMBER or not text.removeprefix("-").isdecimal():
            return None
        number = int(text)
        return number if self.admits(number) else None

    def admits(self, value: int | str) -> bool:
        """Whether a value is such an argument; writing it as text and reading that gives it again."""
        if self.kind == "code":
            return isinstance(value, str) and bool(value.strip()) and len(value) <= (self.most or len(value))
        if isinstance(value, str):
            spaces = "" if self.kind == "word" else " "
            plain = bool(value) and spaces.join(value.split()) == value
            return self.kind != "integer" and plain and (not self.choices or value in self.choices)
        low, high = self.least, self.most
        bounded = (low is None or value >= low) and (high is None or value <= high)
        return self.kind == "integer" and bounded and len(str(value)) <= LONGEST_NUMBER


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """An action that runs a program, with a name and optional arguments."""

    name: str
    says: str = ""
    parameters: tuple[Parameter, ...] = ()

    @property
    def runs_code(self) -> bool:
        """Whether its argument is code that somebody wrote."""
        return any(each.kind == "code" for each in self.parameters)

    @property
    def form(self) -> str:
        """How it is written: `rest <turns>`, optional arguments as `[turns]`."""
        return " ".join(
            [
                self.name,
                *(f"[{each.name}]" if each.optional else f"<{each.name}>" for each in self.parameters),
            ]
        )

    def admits(self, call: Call) -> bool:
        """Whether a call is of this action, with arguments that it takes."""
        given, omitted = call.arguments, self.parameters[len(call.arguments) :]
        return (
            call.name == self.name
            and len(given) <= len(self.parameters)
            and all(each.admits(value) for each, value in zip(self.parameters, given, strict=False))
            and (not omitted or omitted[0].optional)
        )

    def call(self, text: str) -> Call | None:
        """Parse a call of this action; return None for another action or wrong arguments."""
        if text != self.name and not text.startswith(f"{self.name} "):
            return None
        if self.parameters and self.parameters[0].kind == "code":
            code = self.parameters[0].read(text[len(self.name) + 1 :])
            return None if code is None else Call(self.name, (code,))
        words = text[len(self.name) :].split()
        arguments: list[int | str] = []
        for place, parameter in enumerate(self.parameters):
            word = " ".join(words[place:]) if parameter.kind == "text" else "".join(words[place : place + 1])
            if not word and parameter.optional:
                break
            value = parameter.read(word)
            if value is None:
                return None
            arguments.append(value)
        rest = self.parameters[-1].kind == "text" if self.parameters else False
        return None if len(words) > len(self.parameters) and not rest else Call(self.name, tuple(arguments))
