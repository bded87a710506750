"""Record the real games behind the golden prompts, and write those prompts again.

python -m tests.agents.record      # then read `git diff tests/agents/golden` with care
"""

import asyncio

import msgspec

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.workers.inline import InlineGames
from tests.agents.support import GOLDEN, Recorded
from tests.agents.test_golden import SNAPSHOTS, snapshot

GAMES = {
    "nle": (
        GameSpec("nle", "NetHackChallenge-v0", Seeds(3, 3), options={"character": "mon-hum-neu-mal"}),
        ("far east", "drop", "d", "drop", "e", "pickup", "a"),
    ),
    "minihack": (
        GameSpec("minihack", "MiniHack-Corridor-R3-v0", Seeds(5, 5)),
        ("west", "search", "south"),
    ),
}


async def record(spec: GameSpec, actions: tuple[str, ...]) -> Recorded:
    """Play the actions and keep the observations that an agent would get."""
    game = await InlineGames().open(spec)
    transitions = [game.start, *await game.play(actions)]
    await game.close()
    view = game.view
    return Recorded(
        msgspec.to_builtins(spec),
        actions,
        view.env,
        view.task,
        view.goal,
        dict(view.actions),
        tuple(sorted(view.accepted)),
        view.default_action,
        tuple(transition.observation for transition in transitions),
    )


def main() -> None:
    """Write all files."""
    for name, (spec, actions) in GAMES.items():
        encoded = msgspec.json.encode(asyncio.run(record(spec, actions)))
        (GOLDEN / f"{name}.json").write_bytes(encoded + b"\n")
    for name in SNAPSHOTS:
        (GOLDEN / f"{name}.txt").write_text(snapshot(name))


if __name__ == "__main__":
    main()
