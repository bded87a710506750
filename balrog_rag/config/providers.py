"""Complete model names: LiteLLM expects the provider before a model's name, servers print it without."""

from functools import cache

from balrog_rag.config.schema import ModelConfig
from balrog_rag.util.litellm_loading import load
from balrog_rag.util.paths import data

ROUTERS = {"hosted_vllm": (), "ollama_chat": ("ollama",), "openrouter": ()}
"""Providers whose models' names may start like another provider, e.g. openai/gpt-oss-20b; with the other
names that LiteLLM has for the same servers."""


def with_provider(name: str, provider: str | None, price_table: str = "carried") -> str:
    """Prefix the model's name with its provider, unless it already names one."""
    head, slash, _ = name.partition("/")
    if provider is None or (slash and head in (provider, *ROUTERS.get(provider, ()))):
        return name
    if slash and provider not in ROUTERS and is_provider(head, price_table):
        return name
    return f"{provider}/{name}"


def preset_provider(preset: str | None) -> str | None:
    """Return the provider of a file in conf/model; None if LiteLLM has no such provider."""
    provider, slash, _ = _declared_name(preset).partition("/") if preset else ("", "", "")
    return provider if slash else None


def named_provider(model: ModelConfig) -> str | None:
    """Return the provider prefix of a model's full name; None if it is not a provider of LiteLLM."""
    head, slash, _ = model.name.partition("/")
    return head if slash and is_provider(head, model.price_table) else None


def is_provider(name: str, price_table: str) -> bool:
    """Whether LiteLLM knows the provider; called only if our own presets do not."""
    if name in _declared():
        return True
    return name in {getattr(known, "value", known) for known in load(price_table).provider_list}


@cache
def _declared() -> frozenset[str]:
    presets = [path.stem for path in (data("conf") / "model").glob("*.yaml")]
    return frozenset(filter(None, map(preset_provider, presets)))


@cache
def _declared_name(preset: str) -> str:
    from omegaconf import OmegaConf

    path = data("conf") / "model" / f"{preset}.yaml"
    return str(OmegaConf.select(OmegaConf.load(path), "name")) if path.is_file() else ""
