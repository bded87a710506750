"""Check that a provider's API key is available before a run starts."""

import os

from balrog_rag.config.providers import named_provider
from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util import secrets

VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": (
        *("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY"),
        "FIREWORKS_AI_TOKEN",
    ),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_AI_TOKEN"),
    "xai": ("XAI_API_KEY",),
}
"""Where LiteLLM looks for the key of a provider that always requires one."""
ADDRESSES = ("_API_BASE", "_BASE_URL")
"""Ends of variables that redirect a provider's calls to another server, which may need no key."""


def refuse_unanswerable(model: ModelConfig) -> None:
    """Refuse a name that LiteLLM cannot assign to a provider, and a provider whose key is missing."""
    if model.backend != "litellm":
        return
    provider = named_provider(model)
    # LiteLLM recognises many bare names, so only those that it does not know lack a provider.
    if provider is None and not _known_by_itself(model):
        raise ConfigError(
            f"model.name={model.name}: unknown provider; use model.name=PROVIDER/{model.name}, "
            "or choose one, e.g. model=openai"
        )
    if missing := missing_key(model):
        raise ConfigError(f"model.name={model.name}: {missing}")


def missing_key(model: ModelConfig) -> str:
    """Say which key is missing and how to set it; "" if none is needed or it is available."""
    secrets.load_env()
    provider = model.name.partition("/")[0]
    names = VARIABLES.get(provider, ())
    elsewhere = [f"{provider.upper()}{ending}" for ending in ADDRESSES]
    given = model.api_key_env or model.base_url or model.extra_headers
    found = any(os.environ.get(name) for name in (*names, *elsewhere))
    if given or found or not names:
        return ""
    return f"API key missing; set {' or '.join(names[:2])} in the environment or .env"


def _known_by_itself(model: ModelConfig) -> bool:
    """Whether LiteLLM recognises the name without a provider prefix."""
    from balrog_rag.util.litellm_loading import load

    try:
        load(model.price_table).get_llm_provider(model.name)
    except Exception:  # noqa: BLE001 - LiteLLM raises various classes; each means "not recognised"
        return False
    return True
