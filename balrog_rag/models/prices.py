"""What a call costs: each price set in the configuration, else LiteLLM's table, else unknown and said so."""

from typing import Any

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Usage
from balrog_rag.util import litellm_loading

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

    def or_else(self, other: "Prices") -> "Prices":
        """These, and the other's where there is none."""
        return Prices(
            *(own if own is not None else rate for own, rate in zip(self._all, other._all, strict=True))
        )

    @property
    def _all(self) -> tuple[float | None, float | None, float | None]:
        return self.input, self.output, self.cached

    @property
    def missing(self) -> str:
        """The settings that would make the cost of a call known."""
        lacking = {"model.price.input": self.input, "model.price.output": self.output}
        return " and ".join(name for name, price in lacking.items() if price is None)

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
    """Whether nothing of them is set in the configuration, so that LiteLLM's own sum holds."""
    told: bool = False
    """Whether the provider tells the cost with each answer."""

    @property
    def known(self) -> bool:
        """Whether the cost of a call can be told."""
        return self.told or self.prices.known

    def cost(self, usage: Usage, response: Any) -> float | None:
        """Dollars for a call; LiteLLM's own sum where its table is used: it knows tiers and cache writes."""
        if not self.from_table and self.prices.known:
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
    own, table = Prices.of_config(config), table_prices(config.name, litellm)
    told = config.name.startswith("openrouter/")
    return Card(own.or_else(table), own == Prices(), told)


def table_prices(name: str, litellm: Any) -> Prices:
    """What LiteLLM's table says of the model."""
    entry = table_entry(name, litellm)
    rates = (entry.get(rate) for rate in TABLE_NAMES)
    return Prices(*(None if rate is None else float(rate) * MILLION for rate in rates))


def table_entry(name: str, litellm: Any) -> dict[str, Any]:
    """The model's line in LiteLLM's table; empty where it has none."""
    try:
        key = litellm.get_model_info(name)["key"]
    except Exception:  # noqa: BLE001 - LiteLLM says "unknown model" with a bare Exception
        return {}
    entry: dict[str, Any] = litellm.model_cost.get(key, {})
    return entry
