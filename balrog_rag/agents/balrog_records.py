"""BALROG's own demonstrations, `records/ENV/TASK/**/*.npz`, as demonstrations of this project."""

import re
from pathlib import PurePath
from typing import Any

from balrog_rag.agents.demonstrations import Demonstration, DemonstrationTurn
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.util.numpy_files import BadArrayFile, read_arrays

SUFFIX = ".npz"
ARRAYS = ("text", "action", "terminated", "truncated")
"""The arrays that a demonstration is made of. Records hold others, such as pictures, which are not read."""


def task_of(path: PurePath) -> str:
    """Return the ENV/TASK of a record, from its folders."""
    parts = path.parent.parts
    for place in reversed(range(len(parts))):
        if registry.environments.has(parts[place]):
            env, folders = parts[place], parts[place + 1 :]
            tasks = {*kind_of(env).tasks()}
            starts = ["/".join(folders[:count]) for count in range(len(folders), 0, -1)]
            return f"{env}/{next((task for task in starts if task in tasks), '/'.join(folders))}"
    raise ConfigError(
        f"agent.demonstrations: {path}: not in a folder of its task; keep it in records/ENV/TASK"
    )


def seed_of(path: PurePath) -> int | None:
    """Return the seed of a record's game, from a name such as `20241201T225823-seed13-rew1.00-len47.npz`."""
    found = re.search(r"(?:^|-)seed(\d{1,18})(?=-|$)", path.stem)
    return int(found[1]) if found else None


def read_record(path: PurePath, data: bytes) -> Demonstration:
    """Return the episode of a record, up to the step that ended it."""
    try:
        arrays = read_arrays(data, ARRAYS)
        texts = [_text(seen) for seen in arrays["text"]]
    except BadArrayFile as error:
        raise ConfigError(
            f"agent.demonstrations: {path} is not a record of BALROG: {error}; remove it or download it again"
        ) from error
    actions = [_clean(str(action)) for action in arrays["action"]]
    over = [bool(one or other) for one, other in zip(arrays["terminated"], arrays["truncated"], strict=False)]
    if not texts or {len(texts)} != {len(actions), len(over)}:
        raise ConfigError(
            f"agent.demonstrations: {path}: {len(texts)} observations, {len(actions)} actions, "
            f"{len(over)} ends; expected as many of each, at least one"
        )
    last = next((step for step in range(1, len(texts)) if over[step]), len(texts) - 1)
    # An entry holds the action and what it led to; the first one holds what the game began with.
    turns = tuple(DemonstrationTurn(texts[step], actions[step + 1]) for step in range(last))
    return Demonstration(task_of(path), f"BALROG's record {path.name}", turns, texts[last], seed_of(path))


def _text(seen: Any) -> str:
    text = seen.get("long_term_context", "") if isinstance(seen, dict) else None
    if not isinstance(text, str):
        raise BadArrayFile("array 'text': an observation is not a dictionary of texts")
    return _clean(text)


def _clean(text: str) -> str:
    """Replace lone surrogates, which journals do not allow."""
    return text.encode("utf-8", "replace").decode()
