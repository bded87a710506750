"""The tools of a client with its own loop, and what each of them does. Nothing here depends on a protocol."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from balrog_rag.agents.client_calls import ClientTool, skill_tool, skill_tools, written_call
from balrog_rag.clients.client_run import ClientRun
from balrog_rag.clients.exchange import ClientExchange, ClientGone
from balrog_rag.contracts.data import TaskView, Usage

EPISODE = {"type": "string", "description": "the episode, as next_game returned it; default: the one in play"}
MOST_TOKENS = 10**12


class ToolAnswer(NamedTuple):
    """The answer to a call."""

    text: str
    episode: str = ""
    step: int = 0
    over: bool = False
    refused: bool = False
    """Whether the call was about no game, so it had no effect."""


INSTRUCTIONS = (
    "Text games to play. Call next_game first: it returns the rules, the first observation and the episode. "
    "Then call act until the game is over, and next_game again until it says that there is no other game. "
    "Pass the episode with every call if you play several games at once."
)


def tools(views: Iterable[TaskView], search: bool, most: int) -> list[ClientTool]:
    """Return the tools for these tasks."""
    action = {"type": "string", "description": "an action, as the rules of the game write it"}
    either = {"anyOf": [action, {"type": "array", "items": action, "minItems": 1, "maxItems": most}]}
    count = {"type": "integer", "minimum": 0, "maximum": MOST_TOKENS}
    given = [
        ClientTool(
            "next_game",
            "Start the next planned game, or continue the one that is not finished. Returns the rules, the "
            "newest observation and the episode.",
            _schema({}),
        ),
        ClientTool("observe", "Return the newest observation again; takes no step.", _schema({})),
        ClientTool("act", "Take one action of the game, or several.", _schema({"action": either}, "action")),
        ClientTool("give_up", "End the game with the progression made so far.", _schema({})),
        ClientTool(
            "report_usage",
            "Optional: report the tokens that you have used for this game since the last report.",
            _schema(
                {"input_tokens": count, "output_tokens": count, "dollars": {"type": "number", "minimum": 0}},
                "input_tokens",
                "output_tokens",
            ),
        ),
    ]
    if search:
        query = {"type": "string", "description": "a few words", "minLength": 1}
        says = "Look something up in a guide to the game; takes no step."
        given.append(ClientTool("search", says, _schema({"query": query}, "query")))
    skills = {name: skill for view in views for name, skill in skill_tools(view).items()}
    own = [skill_tool(name, skill) for name, skill in skills.items()]
    return [*given, *(ClientTool(each.name, each.says, _with_episode(each.schema)) for each in own)]


def _schema(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """Return the schema of these arguments and the episode."""
    return {
        "type": "object",
        "properties": {**properties, "episode": EPISODE},
        "required": list(required),
        "additionalProperties": False,
    }


def _with_episode(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema, "properties": {**schema["properties"], "episode": EPISODE}}


class ClientCalls:
    """Carries out the calls of a run's clients."""

    def __init__(self, clients: ClientRun) -> None:
        self._clients = clients

    async def tools(self) -> list[ClientTool]:
        """Return the tools of the run."""
        agent = self._clients.run.config.agent
        return tools(await self._clients.views(), agent.retrieval.enabled, agent.batch.size)

    async def call(self, client: str, tool: str, given: Mapping[str, Any]) -> ToolAnswer:
        """Carry out a call; every call about a game in play goes into its journal."""
        arguments = dict(given)
        episode = arguments.pop("episode", None)
        try:
            if episode is not None and not isinstance(episode, str):
                raise ClientGone("episode must be a text, as next_game returned it")
            if tool == "next_game":
                return await self._next_game(client, episode)
            game = self._clients.current(client, episode)
            usage, dollars = _reported(arguments) if tool == "report_usage" else (None, None)
            text = await game.call(written_call(tool, arguments), usage, dollars)
        except ClientGone as gone:
            return ToolAnswer(str(gone), refused=True)
        if game.over:
            text += "\nCall next_game for the next one."
        return ToolAnswer(text, game.episode, game.step, game.over)

    async def _next_game(self, client: str, episode: str | None) -> ToolAnswer:
        game = self._clients.next_game(client, episode)
        if game is None:
            return ToolAnswer(self.scores(), over=True)
        text = await game.question()
        if game.over:
            return ToolAnswer(text, game.episode, game.step, over=True)
        return ToolAnswer(f"{game.instruction}\n\n{_place(game)}\n\n{text}", game.episode, game.step)

    def scores(self) -> str:
        """Return what is said once every game is over."""
        scores = list(self._clients.scores.values())
        mean = 100 * math.fsum(score.progression for score in scores) / max(1, len(scores))
        lines = "\n".join(score.line for score in scores)
        return f"The run is over: there is no other game.\n{lines}\nmean progression {mean:.2f} %"


def _place(game: ClientExchange) -> str:
    return f"Episode {game.episode}, step {game.step}."


def _reported(arguments: Mapping[str, Any]) -> tuple[Usage, float | None]:
    """Return the usage that a client reports; refuse what cannot be one, which costs no step."""
    counts = [arguments.get(name) for name in ("input_tokens", "output_tokens")]
    if not all(type(count) is int and 0 <= count <= MOST_TOKENS for count in counts):
        raise ClientGone("report_usage needs input_tokens and output_tokens: whole numbers from 0")
    dollars = arguments.get("dollars")
    if dollars is not None and not (isinstance(dollars, int | float) and 0 <= dollars <= MOST_TOKENS):
        raise ClientGone("report_usage: dollars must be a number from 0")
    return Usage(input=int(counts[0] or 0), output=int(counts[1] or 0)), dollars
