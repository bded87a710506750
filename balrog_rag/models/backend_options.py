"""Options of one backend: checked against its own typed list, every fault one line."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest

T = TypeVar("T", bound=msgspec.Struct)


def read_options(options: Mapping[str, Any], kind: type[T]) -> T:
    """`model.options` as that Struct, or a ConfigError naming the key that is wrong, unknown or missing."""
    names = [field.name for field in msgspec.structs.fields(kind)]
    for name in options:
        if name not in names:
            raise ConfigError(f"model.options.{name}: no such option{nearest(name, names)}")
    try:
        return msgspec.convert(dict(options), kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"model.options: {error}") from error
