"""`balrog-rag prompts`: prompt files, exact prompts for a real game, demonstration files."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.cli.command_line import Parser, called, ended, file_to_write, folder_to_write, within
from balrog_rag.contracts.data import AnswerFormat, Message, Passage, Purpose, Reply, Request, TaskView
from balrog_rag.contracts.errors import ConfigError

QUERY = "a query that the model writes"
STAND_INS = {
    "query": f"Query: {QUERY}",
    "summary": "(a summary that the model writes)",
}
PASSAGE = Passage("0", "(title of a passage)", "(its text)", score=1.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = parser().parse_args(arguments)
    return ended(lambda: options.run(options))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    top = Parser(prog=called("prompts"), description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    files = commands.add_parser("list", help="list prompt files, content hashes and the values used")
    files.set_defaults(run=_list)
    show = commands.add_parser(
        "show",
        help="print the exact messages that an agent sends in a real game",
        description="Plays the first episode of the configuration with the actions given and prints every "
        "message of the last step. No model is called: queries and summaries are placeholders.",
    )
    show.add_argument("--actions", default="", help="actions to take first: 'far east,search'")
    show.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="e.g. agent=cot env=minihack")
    show.set_defaults(run=_show)
    demonstrate = commands.add_parser(
        "demonstrate",
        help="create a demonstration file for few_shot from a journal, a recording or a record of BALROG",
    )
    demonstrate.add_argument(
        "source",
        type=Path,
        help="a journal, a recording with keys (*.ttyrec3.bz2, *.ttyrec2.bz2), records/ENV/TASK/*.npz",
    )
    demonstrate.add_argument("file", type=Path, help="the file to write")
    demonstrate.add_argument("--steps", type=int, help="only the first N steps")
    demonstrate.set_defaults(run=_demonstrate)
    bring = commands.add_parser(
        "import",
        help="import the prompts of your own BALROG checkout as files for agent.prompts=@FOLDER",
        description="Extracts the texts from the checkout's Python files, without running them, and writes "
        "one file per prompt. agent.prompts=@FOLDER then plays with exactly these texts.",
    )
    bring.add_argument("checkout", type=Path, metavar="CHECKOUT", help="a clone of BALROG's repository")
    bring.add_argument(
        "--out", type=Path, default=Path("balrog_prompts"), metavar="FOLDER", help="(default: %(default)s)"
    )
    bring.set_defaults(run=_import)
    return top


def _list(options: argparse.Namespace) -> int:
    from balrog_rag.agents.prompts import fingerprint, sources, wants
    from balrog_rag.contracts import registry
    from balrog_rag.contracts.kinds import kind_of

    kinds = [kind_of(name) for name in registry.environments.names()]
    texts = sources(kinds)
    for name, content in fingerprint(kinds).items():
        print(f"{content}  {name:<22} {', '.join(wants(texts[name]))}".rstrip())
    return 0


def _show(options: argparse.Namespace) -> int:
    actions = [action.strip() for action in options.actions.split(",") if action.strip()]
    asyncio.run(_perform(options.overrides, actions))
    return 0


def _demonstrate(options: argparse.Namespace) -> int:
    from balrog_rag.agents.demonstrations import shortened, write
    from balrog_rag.cli.demonstrate import from_any

    within("--steps", options.steps, 1)
    file_to_write("demonstrate", options.file)
    made = shortened(from_any(options.source), options.steps)
    write(options.file, made)
    print(f"{options.file}: {len(made.turns)} turns of {made.task}")
    return 0


def _import(options: argparse.Namespace) -> int:
    from balrog_rag.cli.checkout import read, write
    from balrog_rag.contracts import registry
    from balrog_rag.util.terminal_safe import one_line

    folder_to_write("--out", options.out)
    found = read(options.checkout, registry.environments.names())
    write(found, options.out)
    for name, text in found.prompts.items():
        print(f"{name:<22} {len(text):>6,} characters")
    for name, why in found.left_out.items():
        print(one_line(f"skipped: {name}: {why}"))
    print(f"play with them: agent.prompts=@{options.out}")
    return 0


class PromptPrinter:
    """A model handle that records requests and answers with placeholders."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.action = ""

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        """Return the placeholder answer for the request's purpose."""
        self.requests.append(Request(tuple(messages), purpose, answer))
        if purpose in STAND_INS:
            return Reply(STAND_INS[purpose])
        before, after = (answer.before, answer.after) if answer else ("", "")
        return Reply(f"{before}{self.action}{after}")


class OnePassage:
    """A knowledge base handle that returns the same placeholder passage for every query."""

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Return the placeholder."""
        return (PASSAGE,)


async def _perform(overrides: list[str], actions: list[str]) -> None:
    """Play the first episode and print the requests of its last step."""
    from balrog_rag import agents
    from balrog_rag.agents.demonstration_choice import for_game
    from balrog_rag.config.compose import compose
    from balrog_rag.contracts.programs import plays
    from balrog_rag.run.plan import game_spec
    from balrog_rag.workers.inline import InlineGames

    config = compose(overrides)
    if plays(config.agent.name):
        raise ConfigError(f"agent={config.agent.name}: a program has no prompts; choose an agent")
    task = config.env.tasks[0]
    spec = game_spec(config, task, 0)
    game = await InlineGames().open(spec)
    printer = PromptPrinter()
    player = for_game(agents.resolve(config.agent), spec.env, spec.task, spec.seeds.core)
    agent = agents.build(player, game.view, printer, OnePassage())
    observation = game.start.observation
    for action in actions:
        _refuse(action, game.view, task)
        printer.action = action
        await agent.act(observation)
        observation = (await game.play([action]))[-1].observation
    before, printer.action = len(printer.requests), game.view.default_action
    await agent.act(observation)
    await game.close()
    _print(printer.requests[before:])


def _refuse(action: str, view: TaskView, task: str) -> None:
    from balrog_rag.contracts.registry import nearest

    if not view.takes(action):
        near = nearest(action, [*view.accepted, *(each.form for each in view.programs)])
        raise ConfigError(f"--actions: {action!r} is not an action of {task}{near}")


def _print(requests: Sequence[Request]) -> None:
    from balrog_rag.util.terminal_safe import terminal_safe

    for request in requests:
        print(f"########## {request.purpose}: {len(request.messages)} messages, digest {request.digest}")
        for message in request.messages:
            pictures = f" (+{len(message.images)} images)" if message.images else ""
            print(f"===== {message.role}{pictures}\n{terminal_safe(message.text)}")
