"""Calls to providers through LiteLLM, which is loaded as for models; failures become one line."""

from collections.abc import Callable
from typing import Any

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.util import litellm_loading
from balrog_rag.util.secrets import load_env, redact

_LONGEST = 300


def litellm() -> Any:
    """Return the litellm module; keys of an `.env` file are then in the environment."""
    load_env()
    return litellm_loading.load()


def answered(purpose: str, model: str, call: Callable[[], Any]) -> Any:
    """Return the call's result; `purpose` describes the call in errors."""
    from openai import (
        OpenAIError,  # the root of LiteLLM's errors; its class `APIError` is not
    )

    try:
        return call()
    except OpenAIError as error:
        raise KnowledgeError(
            f"{purpose} by {model} failed: {_one_line(error)}; "
            "check knowledge.options.litellm and the provider's key in the environment or .env"
        ) from error


def _one_line(error: Exception) -> str:
    """The first line, which says what happened; LiteLLM appends advice or a traceback."""
    line = " ".join(redact(str(error).partition("\n")[0]).split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."
