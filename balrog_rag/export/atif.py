"""An episode as a trajectory of the Agent Trajectory Interchange Format, version 1.8.

The first step contains the first observation. Then each decision is one agent step: its answer, its searches
and its action as tool calls, the resulting observation, and the costs of its model calls. An action that runs
a program refers to a subagent's trajectory. Exact prompts are in `extra`. There are no timestamps, since
journals record no clock. The document is validated with the format's own models.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import atif
import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.data import Observation, Reply
from balrog_rag.contracts.events import Answered, Asked, Ended, Event, Searched, Started, Stepped
from balrog_rag.contracts.tool_calls import calls_text
from balrog_rag.episode.journal import Header
from balrog_rag.export.turns import ACT, DESCRIPTIONS, SEARCH

VERSION = "ATIF-v1.8"


class Trajectory:
    """Builds the trajectory from the events of one episode."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._steps: list[atif.Step] = []
        self._replies: list[Reply] = []
        self._end: Ended | None = None
        self._prompts: list[Any] = []
        self._answers: list[Answered] = []
        self._searches: list[Searched] = []
        self._programs: list[atif.Trajectory] = []

    def see(self, event: Event) -> None:
        """Process an event; a step of the game completes a step of the trajectory."""
        match event:
            case Started():
                text = event.observation.screen
                self._add(source="user", message=text, extra=_moment(event.observation))
            case Asked():
                self._prompts.append(msgspec.to_builtins(event.request))
            case Answered():
                self._answers.append(event)
                self._replies.append(event.reply)
            case Searched():
                self._searches.append(event)
            case Stepped():
                self._decided(event)
            case Ended():
                self._end = event
                if self._answers:
                    self._decided(None)  # answered, but a limit ended the episode before the action

    def document(self) -> dict[str, Any]:
        """Return the whole trajectory, validated by the format's own model."""
        spec, last, player = self._header.spec, self._end, self._header.spec.last_player
        made = atif.Trajectory(
            schema_version=VERSION,
            session_id=self._header.config_digest,
            trajectory_id=self._id,
            agent=atif.Agent(
                name=str(player.agent.get("name")),
                version=self._version,
                model_name=str(player.model.get("name")) if self._replies else None,
                tool_definitions=_tools(self._steps),
                extra={"agent": player.agent, "model": player.model, "versions": self._header.versions},
            ),
            steps=self._steps,
            final_metrics=atif.FinalMetrics(**_totals(self._replies), total_steps=len(self._steps)),
            subagent_trajectories=self._programs or None,
            extra={
                "episode": spec.episode,
                "game": msgspec.to_builtins(spec.game),
                "outcome": last.outcome if last else None,
                "how": last.how if last else None,
                "steps": last.steps if last else None,
            },
        )
        document: dict[str, Any] = made.to_json_dict()
        return document

    @property
    def _id(self) -> str:
        return f"{self._header.spec.episode}#{self._header.spec.digest}"

    @property
    def _version(self) -> str:
        return str(self._header.versions.get("balrog_rag", __version__))

    def _decided(self, event: Stepped | None) -> None:
        calls, results = self._looked_up()
        extra: dict[str, Any] = {"prompts": self._prompts}
        if event is not None:
            number = f"step-{event.step}"
            decision, after = event.decision, event.after
            said = {"pressed": list(after.pressed)} if after.pressed else {"action": event.taken}
            calls.append(atif.ToolCall(tool_call_id=number, function_name=ACT, arguments=said))
            results.append(
                atif.ObservationResult(
                    source_call_id=number,
                    content=after.observation.screen,
                    subagent_trajectory_ref=self._delegated(event),
                    extra=_moment(after.observation),
                )
            )
            extra |= {"step": event.step, "reward": after.reward, "keys": after.keys}
            extra |= {"asked_for": decision.action, "stopped": after.stopped, "ended": after.ended}
        self._add(
            source="agent",
            message=_message(self._answers, event),
            tool_calls=calls or None,
            observation=atif.Observation(results=results) if results else None,
            llm_call_count=len(self._answers),
            extra=extra,
            **_of_model([answer.reply for answer in self._answers]),
        )
        self._prompts, self._answers, self._searches = [], [], []

    def _delegated(self, event: Stepped) -> list[atif.SubagentTrajectoryRef] | None:
        """Add the trajectory of the program that carried an action out, if one did.

        Its screens are not repeated: what the agent saw is the observation that refers to it. Journals have
        the number of its key presses, and the keys and calls themselves of code.
        """
        after = event.after
        if not after.stopped:
            return None
        name = event.decision.call.name if event.decision.call else event.taken.partition(" ")[0]
        done = [
            atif.ToolCall(
                tool_call_id=f"command-{place}", function_name=COMMAND, arguments={COMMAND: command}
            )
            for place, command in enumerate(after.commands or ())
        ]
        steps = [
            atif.Step(step_id=1, source="user", message=event.taken),
            atif.Step(
                step_id=2,
                source="agent",
                message=after.stopped,
                tool_calls=done or None,
                llm_call_count=0,
                extra={"keys": after.keys, "reward": after.reward},
            ),
        ]
        program = atif.Trajectory(
            schema_version=VERSION,
            trajectory_id=f"{self._id}/step-{event.step}",
            agent=atif.Agent(name=name, version=self._version, tool_definitions=_tools(steps) or None),
            steps=steps,
            final_metrics=atif.FinalMetrics(total_steps=len(steps)),
        )
        self._programs.append(program)
        return [atif.SubagentTrajectoryRef(trajectory_id=program.trajectory_id)]

    def _looked_up(self) -> tuple[list[atif.ToolCall], list[atif.ObservationResult]]:
        calls, results = [], []
        for place, search in enumerate(self._searches):
            name = f"search-{search.step}-{place}"
            query = {"query": search.query}
            calls.append(atif.ToolCall(tool_call_id=name, function_name=SEARCH, arguments=query))
            text = "\n\n".join(f"{passage.title}\n{passage.text}" for passage in search.passages)
            found = [{"source_doc_id": each.id, "retrieval_score": each.score} for each in search.passages]
            results.append(
                atif.ObservationResult(source_call_id=name, content=text, extra={"passages": found})
            )
        return calls, results

    def _add(self, **fields: Any) -> None:
        self._steps.append(atif.Step(step_id=len(self._steps) + 1, **fields))


COMMAND = "command"
"""The tool of code: a key, or a call of a skill."""
ARGUMENTS = {
    "action": "the action's name, with its arguments",
    "pressed": "the keys, in order; numbers are character codes",
    "query": "what to search for",
    COMMAND: "a key, or a call of a skill",
}


def _tools(steps: Sequence[atif.Step]) -> list[dict[str, Any]]:
    """Define the functions that steps call, as OpenAI's API does."""
    called = {call.function_name: call.arguments for step in steps for call in step.tool_calls or ()}
    return [_definition(name, arguments) for name, arguments in sorted(called.items())]


def _definition(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    properties = {key: _type_of(value) | {"description": ARGUMENTS[key]} for key, value in arguments.items()}
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    said = DESCRIPTIONS.get(name, ARGUMENTS[COMMAND])
    described = {"name": name, "description": said, "parameters": parameters}
    return {"type": "function", "function": described}


def _type_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, list):
        return {"type": "string"}
    numbers = all(isinstance(each, int) for each in value)  # key codes
    return {"type": "array", "items": {"type": "integer" if numbers else "string"}}


def _message(answers: Sequence[Answered], event: Stepped | None) -> str:
    """The model's text for this step: the answer it acted on, or its last one."""
    acted = [said_and_called(answer.reply) for answer in answers if answer.purpose == "act"]
    if acted:
        return acted[-1]
    return event.decision.answer if event else ""


def said_and_called(reply: Reply) -> str:
    """Return an answer's text and its tool calls, one per line."""
    return "\n".join(filter(None, (reply.text, calls_text(reply.calls))))


def _of_model(replies: Sequence[Reply]) -> dict[str, Any]:
    """Metrics of the step's model calls; the format requires a step without calls to omit them."""
    if not replies:
        return {}
    totals = {name.removeprefix("total_"): value for name, value in _totals(replies).items()}
    reasoning = "\n\n".join(reply.reasoning for reply in replies if reply.reasoning)
    extra = {"reasoning_tokens": sum(reply.usage.reasoning for reply in replies)}
    return {
        "metrics": atif.Metrics(**totals, extra=extra),
        "model_name": replies[-1].model or None,
        "reasoning_content": reasoning or None,
    }


def _totals(replies: Iterable[Reply]) -> dict[str, Any]:
    """Sums over all calls; the cost only if the price of every call is known."""
    every = list(replies)
    costs = [reply.cost for reply in every]
    known = [cost for cost in costs if cost is not None]
    seen = not every or any(reply.usage.known for reply in every)
    return {
        "total_prompt_tokens": sum(reply.usage.input for reply in every) if seen else None,
        "total_completion_tokens": sum(reply.usage.output for reply in every) if seen else None,
        "total_cached_tokens": sum(reply.usage.cached for reply in every) if seen else None,
        "total_cost_usd": sum(known) if len(known) == len(costs) else None,
    }


def _moment(seen: Observation) -> dict[str, Any]:
    """The parts of an observation other than its screen; images are only counted: the format takes files."""
    facts: dict[str, Any] = {"numbers": dict(seen.numbers), "digest": seen.digest}
    return facts | ({"pictures": len(seen.pictures)} if seen.pictures else {})
