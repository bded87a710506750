"""What a call costs: each price set in the configuration, else LiteLLM's table, else unknown and said so."""

from collections.abc import Mapping
from typing import Any

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Reply, Usage

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

    @classmethod
    def of_table(cls, entry: Mapping[str, Any]) -> "Prices":
        """What a line of LiteLLM's table says."""
        rates = (entry.get(rate) for rate in TABLE_NAMES)
        return cls(*(None if rate is None else float(rate) * MILLION for rate in rates))

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


class Answer(msgspec.Struct, frozen=True):
    """A reply without its price, and all that its price depends on."""

    reply: Reply
    told: float | None = None
    """Dollars, where the provider or LiteLLM has told them."""
    written: int = 0
    """Tokens of the prompt that the provider wrote to its cache."""
    tier: str = ""
    """The service tier that the provider says it used, e.g. flex."""


class Card(msgspec.Struct, frozen=True):
    """What is known of a model's price."""

    prices: Prices
    from_table: bool = False
    """Whether the configuration sets none of them, so that the table's finer rates hold."""
    entry: Mapping[str, Any] = {}
    """The model's line in LiteLLM's table."""
    told: bool = False
    """Whether the provider tells the cost with each answer."""

    @classmethod
    def of(cls, config: ModelConfig, entry: Mapping[str, Any]) -> "Card":
        """What the configuration and that line of the table say."""
        own = Prices.of_config(config)
        told = config.name.startswith("openrouter/")
        return cls(own.or_else(Prices.of_table(entry)), own == Prices(), entry, told)

    @property
    def known(self) -> bool:
        """Whether the cost of a call can be told."""
        return self.told or self.prices.known

    def cost(self, answer: Answer) -> float | None:
        """Dollars for a call; by the table's finer rates, where the configuration sets no price."""
        if not self.from_table and self.prices.known:
            return self.prices.cost(answer.reply.usage)
        # OpenRouter tells the cost itself, also of models that the table does not have.
        if answer.told:
            return answer.told
        if self.from_table and self.prices.known:
            return by_table(self.entry, answer)
        return self.prices.cost(answer.reply.usage)


TIERS = ("flex", "priority", "fast", "balanced", "ultrafast")
"""The service tiers whose rates the table has under names of their own."""


def by_table(entry: Mapping[str, Any], answer: Answer) -> float:
    """Dollars by a line of LiteLLM's table: its rates for long prompts, service tiers, cache writes."""
    usage = answer.reply.usage
    above = _above(entry, usage.input)
    tier = f"_{answer.tier}" if answer.tier in TIERS else ""

    def rate(what: str, otherwise: float = 0.0) -> float:
        names = (f"{what}{above}{tier}", f"{what}{above}", f"{what}{tier}", what)
        return next((float(entry[name]) for name in names if entry.get(name) is not None), otherwise)

    plain = rate("input_cost_per_token")
    cached = min(usage.cached, usage.input)
    written = min(answer.written, usage.input - cached)
    return (
        (usage.input - cached - written) * plain
        + cached * rate("cache_read_input_token_cost", plain)
        + written * rate("cache_creation_input_token_cost", plain)
        + usage.output * rate("output_cost_per_token")
    )


def _above(entry: Mapping[str, Any], tokens: int) -> str:
    """The part of a rate's name that says it is for prompts so long, e.g. `_above_272k_tokens`."""
    marks = {name.partition("_above_")[2].partition("k_tokens")[0] for name in entry if "k_tokens" in name}
    passed = [int(mark) for mark in marks if mark.isdecimal() and tokens > int(mark) * 1000]
    return f"_above_{max(passed)}k_tokens" if passed else ""
