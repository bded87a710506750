"""Decode JSON and YAML that others wrote; a value that is nested too deeply is an error like any other.

msgspec raises RecursionError for such JSON, and libyaml would end the process.
"""

from typing import TypeVar

import msgspec

T = TypeVar("T")
MOST_DEPTH = 50
"""Levels of nested lists and mappings in YAML."""


def decoded_json(data: bytes, kind: type[T]) -> T:
    """Decode JSON; raises msgspec.DecodeError or UnicodeDecodeError."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as error:
        raise msgspec.DecodeError("nested too deeply") from error


def decoded_yaml(data: bytes, kind: type[T]) -> T:
    """Decode YAML without aliases; raises msgspec.DecodeError or UnicodeDecodeError."""
    import yaml

    depth = 0
    try:
        # Events are read one at a time, while a document is composed by recursion in C.
        for event in yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.AliasEvent):
                raise msgspec.DecodeError("contains an alias")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                raise msgspec.DecodeError("nested too deeply")
    except yaml.YAMLError as error:
        raise msgspec.DecodeError(" ".join(str(error).split())) from error
    return msgspec.yaml.decode(data, type=kind)
