"""The HTTP service's requests and responses, and its description for people and programs."""

from html import escape
from typing import Annotated, Any

import msgspec

from balrog_rag.contracts.data import Passage

Count = Annotated[int, msgspec.Meta(ge=1, le=1000)]


class SearchRequest(msgspec.Struct):
    """Search by text."""

    query: str
    top_n: Count = 10
    rerank: bool = False


class VectorRequest(msgspec.Struct):
    """Search by a raw vector of the embedder's dimensions."""

    vector: list[float]
    top_n: Count = 10
    level: int | None = None
    """Other services call the level of a hierarchy so; there is none here, so it is rejected."""


def openapi() -> dict[str, Any]:
    """Describe the service in OpenAPI's format, from the types that requests are parsed with."""
    kinds: list[Any] = [SearchRequest, VectorRequest, Passage]
    _, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    results = {"type": "object", "properties": {"results": {"type": "array", "items": _named("Passage")}}}
    about: dict[str, Any] = {"type": "object"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "balrog_rag knowledge", "version": "1", "description": "Search a knowledge base."},
        "paths": {
            "/": {"get": _operation("what is served", about)},
            "/search": {"post": _operation("search by text", results, "SearchRequest")},
            "/query": {"post": _operation("search by raw vector", results, "VectorRequest")},
            "/entries/{id}": {"get": _operation("one entry by its id", _named("Passage"), path="id")},
        },
        "components": {"schemas": schemas},
    }


def _named(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _operation(summary: str, answer: dict[str, Any], body: str = "", path: str = "") -> dict[str, Any]:
    found = {"description": "found", "content": {"application/json": {"schema": answer}}}
    refused = {"description": "the request is wrong; the error says how"}
    operation: dict[str, Any] = {"summary": summary, "responses": {"200": found, "4XX": refused}}
    if body:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _named(body)}},
        }
    if path:
        text = {"type": "string"}
        operation["parameters"] = [{"name": path, "in": "path", "required": True, "schema": text}]
    return operation


def page() -> str:
    """Render the description as a page that loads nothing from elsewhere."""
    rows = "".join(
        f"<tr><td><code>{method.upper()} {escape(path)}</code></td>"
        f"<td>{escape(operation['summary'])}</td></tr>"
        for path, methods in openapi()["paths"].items()
        for method, operation in methods.items()
    )
    example = """curl -s http://127.0.0.1:8321/search -H "Content-Type: application/json" \\
  -d '{"query": "dip a dagger in a fountain?", "top_n": 3}'"""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>balrog_rag knowledge</title>"
        "<style>body{font-family:sans-serif;max-width:50em;margin:2em auto}"
        "td{padding:.3em 1em .3em 0}</style>"
        f"<h1>balrog_rag knowledge</h1><table>{rows}</table><pre>{escape(example)}</pre>"
        '<p>In full: <a href="/openapi.json">openapi.json</a></p></html>'
    )
