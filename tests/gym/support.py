"""Comparing what Gymnasium's functions return."""

from typing import Any

import gymnasium
import numpy as np

import balrog_rag.gym

CORRIDOR = "balrog_rag/MiniHack-Corridor-R3-v0"
GOTO = "balrog_rag/babyai-BabyAI-MixedTrainLocal-v0-goto"


def make(name: str, **settings: Any) -> balrog_rag.gym.GameEnv:
    """An environment without Gymnasium's wrappers."""
    made = gymnasium.make(name, **settings).unwrapped
    assert isinstance(made, balrog_rag.gym.GameEnv)
    return made


def same(one: Any, other: Any) -> bool:
    """Whether two nested values are equal, arrays included."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)
