"""What every call of a model says besides its messages, in LiteLLM's words."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util import secrets


def of_config(config: ModelConfig) -> dict[str, Any]:
    """What every call of this model says besides its messages; unset things are not sent at all."""
    said: dict[str, Any] = {
        "model": config.name,
        "base_url": _address(config),
        "api_key": _key(config),
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "reasoning_effort": config.reasoning_effort,
        "thinking": _thinking(config),
        "stop": config.stop or None,
        "seed": config.seed,
        "extra_headers": _headers(config) or None,
        **_body(config),
    }
    timeout = httpx.Timeout(config.timeout, connect=config.connect_timeout)
    always = {"timeout": timeout, "num_retries": 0, "max_retries": 0}
    return {name: value for name, value in said.items() if value is not None} | always


def keys_missing(litellm: Any, said: Mapping[str, Any]) -> list[str]:
    """The variables, any of which would hold the provider's key, where none is set and none is given."""
    if "api_key" in said or "base_url" in said:
        return []
    names: list[str] = litellm.validate_environment(said["model"])["missing_keys"]
    return [name for name in names if name.endswith("_API_KEY")]  # other providers have other ways in


def _address(config: ModelConfig) -> str | None:
    if config.base_url:
        address = _checked(secrets.resolve(config.base_url))
        parts = urlsplit(address)
        secrets.remember(*(unquote(part) for part in (parts.username, parts.password) if part))
        return address
    if config.name.startswith("hosted_vllm/") and not os.environ.get("HOSTED_VLLM_API_BASE"):
        # LiteLLM would send prompts and key to OpenAI.
        raise ConfigError(
            f"model.base_url=null: {config.name} is a server of your own; "
            "set model.base_url, or HOSTED_VLLM_API_BASE in the environment or .env"
        )
    return None


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, or none that there is
        whole = False
    if not whole:
        raise ConfigError(
            f"model.base_url={secrets.redact(address)}: no address of a server; "
            "write it as http://HOST:PORT/v1 or https://HOST/v1"
        )
    return address


def _headers(config: ModelConfig) -> dict[str, str]:
    headers = {name: secrets.resolve(str(value)) for name, value in config.extra_headers.items()}
    secrets.remember(*(value for name, value in headers.items() if secrets.is_secret_name(name)))
    return headers


def _body(config: ModelConfig) -> dict[str, Any]:
    """Further fields of the body, given to LiteLLM in the one way that each provider's code passes on."""
    body = dict(config.extra_body)
    if body.get("stream"):
        raise ConfigError("model.extra_body.stream: answers are read whole; leave it out")
    secrets.remember(*secrets.secret_values(body))
    apart = config.name.startswith(("gemini/", "vertex_ai/"))
    return {"extra_body": body or None} if apart else body


def _key(config: ModelConfig) -> str | None:
    name = config.api_key_env
    if name is None:
        return None
    value = os.environ.get(name)
    if not value:
        raise ConfigError(f"model.api_key_env={name}: not set; put {name}=... into the environment or .env")
    secrets.remember(value)  # whatever its name looks like
    return value


def _thinking(config: ModelConfig) -> dict[str, Any] | None:
    budget = config.thinking_budget
    return None if budget is None else {"type": "enabled", "budget_tokens": budget}
