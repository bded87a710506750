"""Every key of the configuration as a Markdown page: type, default, valid values, meaning."""

import types
from collections.abc import Iterator
from dataclasses import Field, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain, value_at
from balrog_rag.config.groups import group_options
from balrog_rag.config.schema import Config

INTRODUCTION = """\
# Configuration

Every key, written `KEY=VALUE` behind `balrog-rag run`. This page is generated from the schema
(`balrog-rag config reference`), and the defaults are those of `balrog-rag run` without overrides. A group
such as `agent=cot` sets several keys at once; a key given beside it has precedence. `null` means unset.
"""


def key_reference() -> str:
    """Return the page."""
    values = plain(compose([]))
    hints = get_type_hints(Config)
    parts = [INTRODUCTION, "## Groups\n", *_groups()]
    single = [spec for spec in fields(Config) if not is_dataclass(hints[spec.name])]
    parts += ["\n## General\n", *_table(single, hints, "", values)]
    for spec in fields(Config):
        kind = hints[spec.name]
        if is_dataclass(kind):
            parts += [f"\n## {spec.name}\n", f"{kind.__doc__}\n", *_section(kind, f"{spec.name}.", values)]
    return "\n".join(parts) + "\n"


def _groups() -> Iterator[str]:
    yield "| group | options |"
    yield "| --- | --- |"
    for group, options in group_options().items():
        if options:
            yield f"| `{group}=` | {', '.join(f'`{option}`' for option in options)} |"


def _section(section: Any, prefix: str, values: dict[str, Any]) -> Iterator[str]:
    """The keys of a section, then those of its own sections."""
    hints = get_type_hints(section)
    own = [spec for spec in fields(section) if not is_dataclass(hints[spec.name])]
    yield from _table(own, hints, prefix, values)
    for spec in fields(section):
        kind = hints[spec.name]
        if is_dataclass(kind):
            yield f"\n### {prefix}{spec.name}\n"
            yield f"{kind.__doc__}\n"
            yield from _section(kind, f"{prefix}{spec.name}.", values)


def _table(
    specs: list[Field[Any]], hints: dict[str, Any], prefix: str, values: dict[str, Any]
) -> Iterator[str]:
    yield "| key | type | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for spec in specs:
        name = f"{prefix}{spec.name}"
        default = _code(value_at(values, name))
        meaning = _cell(spec.metadata.get("doc", ""))
        yield f"| `{name}` | {_type(hints[spec.name], spec)} | {default} | {meaning} |"


def _type(kind: Any, spec: Field[Any]) -> str:
    rules, said = spec.metadata, _name(kind)
    if rules.get("choices"):
        return ", ".join(f"`{choice}`" for choice in rules["choices"])
    low, high = rules.get("ge"), rules.get("le")
    bounds = [f"≥ {low}"] * (low is not None) + [f"≤ {high}"] * (high is not None)
    return ", ".join([said, *bounds])


def _name(kind: Any) -> str:
    if get_origin(kind) is types.UnionType:
        return " or ".join(_name(one) for one in get_args(kind))
    if get_origin(kind) is list:
        return f"list of {_name(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return "mapping"
    return {type(None): "null", str: "text", int: "integer", float: "number", bool: "true or false"}.get(
        kind, "any"
    )


def _code(value: Any) -> str:
    if value is None:
        return "`null`"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    short = text if len(text) <= 60 else text[:59] + "…"
    return f"`{_cell(short)}`" if short else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
