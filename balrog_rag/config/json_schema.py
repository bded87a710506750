"""The schema of conf/ as JSON Schema, with which editors complete and check YAML files.

One schema describes a file of each group (`agent.yaml`: the keys of `AgentConfig`), and one a file that sets
keys of every section, as experiments do. Files set some of the keys, so none is required.
"""

import types
from dataclasses import Field, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from balrog_rag.config.groups import group_options
from balrog_rag.config.schema import Config

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The draft that YAML editors support best."""
DEFAULTS_LIST = {
    "description": "other files to begin with; _self_ is the place of this one (Hydra's defaults list)",
    "type": "array",
}
SCALARS: dict[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
ELSEWHERE = {"type": "string", "pattern": r"^(\$\{.+\}|\?\?\?)$"}
"""A value that Hydra takes from another key, or one that a file leaves to those that include it (`???`)."""


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of file by name: `config`, and one per section such as `agent`."""
    hints = get_type_hints(Config)
    sections = {name: kind for name, kind in hints.items() if is_dataclass(kind) and name in group_options()}
    whole = _section(Config)
    for (
        group,
        options,
    ) in group_options().items():  # in a file that sets everything, `agent: cot` is a mistake
        if group in sections:
            whole["properties"][group]["description"] += f"; presets: {', '.join(options)}"
    whole["properties"]["hydra"] = {"type": "object", "description": "settings of Hydra itself"}
    return {"config": _file(whole, "the whole configuration"), **{
        name: _file(_section(kind), f"one option of the group {name}") for name, kind in sections.items()
    }}  # fmt: skip


def _file(schema: dict[str, Any], title: str) -> dict[str, Any]:
    schema["properties"]["defaults"] = DEFAULTS_LIST
    return {"$schema": DIALECT, "title": f"balrog_rag: {title}", **schema}


def _section(section: Any) -> dict[str, Any]:
    hints = get_type_hints(section)
    return {
        "type": "object",
        "description": _first_line(section),
        "properties": {spec.name: _key(spec, hints[spec.name]) for spec in fields(section)},
        "additionalProperties": False,
    }


def _first_line(section: type) -> str:
    return (section.__doc__ or "").partition("\n")[0].rstrip(".")


def _key(spec: Field[Any], kind: Any) -> dict[str, Any]:
    if is_dataclass(kind):
        return _section(kind)
    return {"description": spec.metadata.get("doc", ""), "anyOf": [*_values(kind, spec), ELSEWHERE]}


def _values(kind: Any, spec: Field[Any]) -> list[dict[str, Any]]:
    """A schema for each of the types that a key may have."""
    if get_origin(kind) in (types.UnionType, Union):
        return [value for one in get_args(kind) for value in _values(one, spec)]
    return [_value(kind, spec)]


def _value(kind: Any, spec: Field[Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    if kind is type(None):
        return {"type": "null"}
    if get_origin(kind) is list:
        return {"type": "array", "items": _value(get_args(kind)[0], spec)}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": _value(get_args(kind)[1], spec)}
    return {"type": SCALARS[kind], **_bounds(spec)}


def _bounds(spec: Field[Any]) -> dict[str, Any]:
    rules = spec.metadata
    found: dict[str, Any] = {}
    if rules.get("choices"):
        found["enum"] = list(rules["choices"])
    elif rules.get("names") is not None:
        found["examples"] = list(rules["names"].names())  # a plug-in may add names after this was written
    if rules.get("ge") is not None:
        found["minimum"] = rules["ge"]
    if rules.get("le") is not None:
        found["maximum"] = rules["le"]
    return found
