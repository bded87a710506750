"""Groups of rows that are ranked together: those with the same tasks and conditions."""

import re
from collections.abc import Collection, Sequence

import msgspec

from balrog_rag.results.arms import Arm, in_order
from balrog_rag.results.comparability import Task, conditions, tasks_of
from balrog_rag.results.comparing import few
from balrog_rag.util.wording import joined_names, many


class Group(msgspec.Struct):
    """Rows that are ranked together."""

    arms: list[Arm]
    tasks: frozenset[Task]
    conditions: dict[str, str]
    title: str = ""
    """How it differs from the other groups; empty if it is the only one."""


def groups(arms: Sequence[Arm], env: str = "") -> list[Group]:
    """The groups, larger ones first; restricted to `env` if given."""
    found: dict[tuple[frozenset[Task], tuple[tuple[str, str], ...]], Group] = {}
    for arm in arms:
        tasks = frozenset(task for task in tasks_of(arm.runs) if env in ("", task[0]))
        shared = conditions(arm.runs, tasks)
        found.setdefault((tasks, tuple(shared.items())), Group([], tasks, shared)).arms.append(arm)
    made = sorted(found.values(), key=lambda group: -len(group.arms))
    if len(made) > 1:
        for group in made:
            group.title = _title(group, made)
    return made


def _title(group: Group, everybody: Sequence[Group]) -> str:
    said = [_named(group.tasks)] if len({each.tasks for each in everybody}) > 1 else []
    same_tasks = [each for each in everybody if each.tasks == group.tasks]
    for key in sorted({key for each in everybody for key in each.conditions}):
        known = {each.conditions[key] for each in everybody if key in each.conditions}
        differs = len(known) > 1 and key in group.conditions
        # Another version may not have had this condition: two groups would share a title, and so a table.
        if differs or len({each.conditions.get(key) for each in same_tasks}) > 1:
            said.append(f"{key}={group.conditions.get(key, 'none')}")
    return ", ".join(said)


def _named(tasks: Collection[Task]) -> str:
    counts = {env: sum(own == env for own, _ in tasks) for env in in_order(env for env, _ in tasks)}
    if len(counts) == 1:
        return few([f"{env}/{task}" for env, task in tasks])
    return joined_names([f"{env} ({many(count, 'tasks')})" for env, count in counts.items()])


LIMITS = {
    "limits.steps": "at most {} steps",
    "limits.turns": "at most {} turns",
    "limits.seconds": "at most {} seconds",
    "limits.dollars": "at most {} dollars",
}
"""How conditions of a title read on a page."""
_CONDITION = re.compile(r"([\w.]+)=([^,\s]+)")


def conditions_in_words(title: str) -> str:
    """The title of a group for people: its limits as sentences, other conditions as they are configured."""

    def worded(found: re.Match[str]) -> str:
        key, value = found.groups()
        return LIMITS[key].format(f"{int(value):,}") if key in LIMITS and value.isdecimal() else found[0]

    return _CONDITION.sub(worded, title)


def apart(title: str) -> tuple[str, str]:
    """The conditions of a group's title, in words, and its tasks: either may be empty."""
    tasks = _CONDITION.sub("", title).rstrip(", ")
    return conditions_in_words(title.removeprefix(tasks).lstrip(", ")), tasks
