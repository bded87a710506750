"""A skill with arguments: `stride <way> <steps>` walks until something is in the way.

python examples/extend_skill.py [KEY=VALUE ...]       model=openai model.name=... plays with a real model
"""

import sys

import balrog_rag
from balrog_rag.contracts.data import Parameter
from balrog_rag.contracts.programs import Begin, Program, ProgramFailed, ProgramKind

WAYS = ("north", "south", "east", "west")


def stride(begin: Begin) -> Program:
    """Press a direction until the hero no longer moves; `yield` presses, and returns the new screen."""
    way, steps = begin.arguments["way"], int(begin.arguments["steps"])
    screen = begin.screen
    for walked in range(steps):
        before = place(screen)
        screen = yield way
        if place(screen) == before:
            if walked == 0:
                raise ProgramFailed(f"the way {way} is blocked")
            return f"blocked after {walked} steps"
    return f"walked {steps} steps {way}"


def place(screen: dict) -> tuple[int, int]:
    """Where the hero is: NLE's arrays are reused by every press, so take the numbers out at once."""
    return int(screen["blstats"][0]), int(screen["blstats"][1])


STRIDE = ProgramKind(
    name="stride",
    make=stride,
    says="walk in one direction until something is in the way",
    parameters=(Parameter("way", "word", choices=WAYS), Parameter("steps", least=1, most=20)),
    games=("nle", "minihack"),
)
balrog_rag.register.program(STRIDE)


def main(*overrides: str) -> None:
    """Let a scripted model use the skill in a corridor, and print what became of each call."""
    answers = (
        'model.options.answers=["stride east 9", "stride east 1", "stride west 2"]',
        "model.options.order=sequence",
    )
    short = ("env.episodes=1", "limits.steps=3", "model=scripted", *answers, "env.programs=[stride]")
    words = {word.partition("=")[0]: word for word in (*short, *overrides)}
    run = balrog_rag.evaluate(*words.values(), agent="naive", env="corridor")
    for event in run.events():
        if type(event).__name__ == "Stepped":
            print(f"{event.taken}: {event.after.keys} keys, {event.after.stopped}")


if __name__ == "__main__":
    main(*sys.argv[1:])
