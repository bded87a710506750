"""The configured settings of a model's server, validated: address, headers, key, further fields."""

import os
from typing import Any
from urllib.parse import unquote, urlsplit

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util import secrets


def address(config: ModelConfig) -> str | None:
    """Return the configured address; a user name and password in it are secrets from then on."""
    if not config.base_url:
        return None
    given = checked(secrets.resolve(config.base_url))
    parts = urlsplit(given)
    secrets.remember(*(unquote(part) for part in (parts.username, parts.password) if part))
    return given


def checked(address: str) -> str:
    """Return the address, or raise ConfigError if it cannot be a server's."""
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        # `parts.port` raises this for a port that is not a number or out of range.
        whole = False
    if not whole:
        raise ConfigError(
            f"model.base_url={secrets.redact(address)}: not a server address; "
            "use http://HOST:PORT/v1 or https://HOST/v1"
        )
    return address


def headers(config: ModelConfig) -> dict[str, str]:
    """Return the further headers, with variables replaced by their values."""
    said = {name: secrets.resolve(str(value)) for name, value in config.extra_headers.items()}
    secrets.remember(*(value for name, value in said.items() if secrets.is_secret_name(name)))
    return said


def further_fields(config: ModelConfig) -> dict[str, Any]:
    """Return the further fields of the body."""
    body = dict(config.extra_body)
    if body.get("stream"):
        raise ConfigError("model.extra_body.stream: streaming is not supported; leave it out")
    secrets.remember(*secrets.secret_values(body))
    return body


def key(config: ModelConfig) -> str | None:
    """Return the key in the variable that `model.api_key_env` names."""
    name = config.api_key_env
    if name is None:
        return None
    value = os.environ.get(name)
    if not value:
        raise ConfigError(f"model.api_key_env={name}: not set; put {name}=... into the environment or .env")
    secrets.remember(value)  # to be redacted even if the variable's name does not look secret
    return value
