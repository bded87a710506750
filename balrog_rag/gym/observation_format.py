"""What an observation is for Gymnasium: text, arrays or both, and the space of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from balrog_rag.contracts.data import Observation
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.registry import nearest

MODES = ("text", "arrays", "both")
TEXT = "text"
"""The key of the text beside arrays."""
MAX_CHARACTERS = 16_384
"""Longest text of an observation, unless another limit is chosen."""
CHARACTERS = "".join(map(chr, range(256)))
"""The characters of Latin-1, which contains all that the games of this package write."""
_WIDEST = 2**62
"""Bound of 64-bit integers: sampling a space that uses all bits overflows."""


def text_of(seen: Observation) -> str:
    """Return an observation as an agent's prompt has its newest one."""
    return "\n".join(filter(None, (seen.short_term, seen.long_term)))


class ObservationFormat:
    """Makes observations from a game's moments, all of them in one space."""

    def __init__(
        self,
        mode: str,
        chosen: Sequence[str] | None,
        max_characters: int,
        offered: Mapping[str, NDArray[Any]],
        task: str,
    ) -> None:
        """`chosen` names the arrays, None for all of those that are offered; `task` is for messages."""
        if mode not in MODES:
            raise ConfigError(f"observation: unknown value {mode!r}{nearest(str(mode), MODES)}")
        if max_characters < 1:
            raise ConfigError(f"max_characters: expected an integer of at least 1, got {max_characters}")
        self._text, self._task, self._longest = mode != "arrays", task, max_characters
        self.names = () if mode == "text" else _names(chosen, offered, task)
        """The arrays that observations need."""
        self._boxes = {name: _box(offered[name]) for name in self.names}
        text = spaces.Text(max_characters, min_length=0, charset=CHARACTERS)
        parts: dict[str, spaces.Space[Any]] = {**({TEXT: text} if self._text else {}), **self._boxes}
        self.space: spaces.Space[Any] = spaces.Dict(parts) if self.names else text

    def observation(self, seen: Observation, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """Return an observation of the space; arrays are copied."""
        if not self.names:
            return self._bounded(seen)
        made: dict[str, Any] = {TEXT: self._bounded(seen)} if self._text else {}
        for name, box in self._boxes.items():
            array = arrays[name]
            if array.shape != box.shape or array.dtype != box.dtype:
                raise EnvironmentFailure(
                    f"{self._task}: array {name!r} is {array.dtype}{list(array.shape)}, and was "
                    f"{box.dtype}{list(box.shape)} in another game; use observation='text'"
                )
            made[name] = array.copy()
        return made

    def _bounded(self, seen: Observation) -> str:
        text = text_of(seen)[: self._longest]
        return text if text.isascii() else text.encode("latin-1", "replace").decode("latin-1")


def _names(chosen: Sequence[str] | None, offered: Mapping[str, NDArray[Any]], task: str) -> tuple[str, ...]:
    if not offered:
        raise ConfigError(f"{task}: has no arrays; use observation='text'")
    for name in chosen or ():
        if name not in offered:
            raise ConfigError(f"arrays: {task} has no array {name!r}{nearest(str(name), offered)}")
    return tuple(chosen or offered)


def _box(array: NDArray[Any]) -> spaces.Box:
    kind = array.dtype.type
    if array.dtype.kind == "f":
        return spaces.Box(-np.inf, np.inf, array.shape, kind)
    if array.dtype.kind == "b":
        return spaces.Box(0, 1, array.shape, kind)
    bounds = np.iinfo(array.dtype)
    return spaces.Box(max(int(bounds.min), -_WIDEST), min(int(bounds.max), _WIDEST), array.shape, kind)
