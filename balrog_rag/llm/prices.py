"""What a call costs: the price set in the configuration, else LiteLLM's table, else unknown and said so."""

from typing import Any

import msgspec

from balrog_rag import litellm_loading
from balrog_rag.config import ModelConfig
from balrog_rag.vocabulary import Usage

MILLION = 1_000_000
TABLE_NAMES = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")


class Prices(msgspec.Struct, frozen=True):
    """Dollars a million tokens; None where nobody knows."""

    input: float | None = None
    output: float | None = None
    cached: float | None = None

    @classmethod
    def of_config(cls, config: ModelConfig) -> "Prices":
        """The prices that the configuration sets, and no others."""
        return cls(config.price.input, config.price.output, config.price.cached)

    @property
    def known(self) -> bool:
        """Whether the cost of a call can be told."""
        return self.input is not None and self.output is not None

    def cost(self, usage: Usage) -> float | None:
        """Dollars for that usage; cached input costs as other input where no price of its own is known."""
        if self.input is None or self.output is None:
            return None
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / MILLION


class Card(msgspec.Struct, frozen=True):
    """What is known of a model: its prices, and whether LiteLLM's table is where they come from."""

    prices: Prices
    from_table: bool
    told: bool = False
    """Whether the provider tells the cost with each answer."""

    @property
    def known(self) -> bool:
        """Whether the cost of a call can be told."""
        return self.told or self.prices.known

    def cost(self, usage: Usage, response: Any) -> float | None:
        """Dollars for a call; LiteLLM's own sum where its table is used: it knows tiers and cache writes."""
        if not self.from_table:
            return self.prices.cost(usage)
        # OpenRouter tells the cost itself, also of models that the table does not have.
        summed = getattr(response, "_hidden_params", {}).get("response_cost")
        return float(summed) if summed else self.prices.cost(usage)


async def price_known(config: ModelConfig) -> bool:
    """Whether what a call costs can be told before the first one is paid for."""
    if config.backend == "litellm" and not Prices.of_config(config).known:
        return card_of(config, await litellm_loading.load_aside(config.price_table)).known
    return config.backend != "scripted" or Prices.of_config(config).known


def card_of(config: ModelConfig, litellm: Any) -> Card:
    """What the configuration and LiteLLM's table say of the model."""
    entry = table_entry(config.name, litellm)
    own = Prices.of_config(config)
    if own.known:
        return Card(own, False)
    rates = (entry.get(name) for name in TABLE_NAMES)
    prices = Prices(*(None if rate is None else float(rate) * MILLION for rate in rates))
    return Card(prices, True, config.name.startswith("openrouter/"))


def table_entry(name: str, litellm: Any) -> dict[str, Any]:
    """The model's line in LiteLLM's table; empty where it has none."""
    try:
        key = litellm.get_model_info(name)["key"]
    except Exception:  # noqa: BLE001 - LiteLLM says "unknown model" with a bare Exception
        return {}
    entry: dict[str, Any] = litellm.model_cost.get(key, {})
    return entry
