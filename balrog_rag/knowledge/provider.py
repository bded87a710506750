"""What knowledge asks of providers through LiteLLM: loaded as quietly as models are, failures as one line."""

from collections.abc import Callable
from typing import Any

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.util import litellm_loading
from balrog_rag.util.secrets import load_env, redact

_LONGEST = 300


def litellm() -> Any:
    """The litellm module; keys of an `.env` are in the environment from then on."""
    load_env()
    return litellm_loading.load()


def answered(purpose: str, model: str, call: Callable[[], Any]) -> Any:
    """What the call gives; `purpose` says in an error what it was for."""
    from openai import (
        OpenAIError,  # the root of LiteLLM's errors; its own class of that name is a side branch
    )

    try:
        return call()
    except OpenAIError as error:
        raise KnowledgeError(
            f"{purpose} by {model} failed: {_one_line(error)}; "
            "check knowledge.options.litellm and the provider's key in the environment or .env"
        ) from error


def _one_line(error: Exception) -> str:
    """The first line, which says what happened; below it LiteLLM writes advice or its traceback."""
    line = " ".join(redact(str(error).partition("\n")[0]).split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."
