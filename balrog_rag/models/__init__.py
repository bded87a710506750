"""Language models: the LiteLLM client, limits and budgets, the embedded local model."""

from collections.abc import Callable

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.behaviour import Model
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.errors import BalrogError, ConfigError, PluginError


def build(config: ModelConfig) -> Model:
    """Build the model that the configuration names; only its own backend is imported."""
    from balrog_rag.contracts.registry import models

    factory = models.get(config.backend)
    try:
        model: Model = factory(config)
    except (BalrogError, ImportError):  # a missing extra has its own message
        raise
    except Exception as error:  # a factory plug-in can raise anything
        line, trace = blame_of(error, f"model.backend={config.backend}: its factory raised")
        raise PluginError(line, trace) from error
    if missing := [name for name in ("name", "complete") if not hasattr(model, name)]:
        raise PluginError(f"model.backend={config.backend}: the model has no {' and no '.join(missing)}")
    return model


def price_known(model: Model) -> bool:
    """Whether the cost of a call is known before the first one is paid for; plug-ins need not say."""
    known: Callable[[], bool] | None = getattr(model, "price_known", None)
    return known is None or known()


def prompt_limit(config: ModelConfig, max_prompt_tokens: int | None) -> int | None:
    """Return the most tokens of a prompt: the agent's cap, or the model's context less its longest answer."""
    context = config.context
    if context is None and config.backend == "litellm":
        from balrog_rag.models.table import context_of

        context = context_of(config.name)
    if context is None:
        return max_prompt_tokens
    room = context - (config.max_tokens or 0)
    if room <= 0:
        raise ConfigError(
            f"model.max_tokens={config.max_tokens}: leaves no room for a prompt in the {context} tokens of "
            f"{config.name}'s context; lower it, or choose another model, e.g. model=openai"
        )
    return room if max_prompt_tokens is None else min(room, max_prompt_tokens)
