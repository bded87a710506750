"""Actions as a game takes them: decided ones, and those that a journal recorded."""

import msgspec

from balrog_rag.contracts.data import Call, Decision, TaskView
from balrog_rag.episode.journal import Step


def accepted_action(view: TaskView, decision: Decision) -> str | Call:
    """Return the decided action, or the task's default action if it does not accept it."""
    call = decision.call
    if call is not None and call.text == decision.action and view.admits(call):
        return call
    read = view.read(decision.action)
    return view.default_action if read is None else read


def recorded_action(view: TaskView, step: Step) -> str | Call:
    """Return the action of a recorded step; of code only what it did, so that a replay runs none."""
    # A recorded action is the requested one; it is mapped to a valid one exactly as in `take`.
    action = accepted_action(view, Decision(step.action))
    if isinstance(action, Call) and step.commands is not None:
        return msgspec.structs.replace(action, repeated=step.commands, stopped=step.stopped)
    return action


def as_text(action: str | Call) -> str:
    """Return an action as answers and journals have it."""
    return action if isinstance(action, str) else action.text
