"""Options of one backend, validated against its typed option list; every error is one line."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest

T = TypeVar("T", bound=msgspec.Struct)


def read_options(options: Mapping[str, Any], kind: type[T]) -> T:
    """Convert `model.options` to that Struct; raise ConfigError for a wrong, unknown or missing key."""
    names = [field.name for field in msgspec.structs.fields(kind)]
    for name in options:
        if name not in names:
            raise ConfigError(f"model.options.{name}: no such option{nearest(name, names)}")
    try:
        return msgspec.convert(dict(options), kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"model.options: {error}") from error
