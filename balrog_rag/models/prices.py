"""What a call costs: configured prices first, then LiteLLM's table, else unknown."""

from collections.abc import Mapping
from typing import Any

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Reply, Usage

MILLION = 1_000_000
TABLE_NAMES = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")


class Prices(msgspec.Struct, frozen=True):
    """Dollars per million tokens; None if unknown."""

    input: float | None = None
    output: float | None = None
    cached: float | None = None

    @classmethod
    def of_config(cls, config: ModelConfig) -> "Prices":
        """Return only the prices that the configuration sets."""
        return cls(config.price.input, config.price.output, config.price.cached)

    @classmethod
    def of_table(cls, entry: Mapping[str, Any]) -> "Prices":
        """Return the prices in an entry of LiteLLM's table."""
        rates = (entry.get(rate) for rate in TABLE_NAMES)
        return cls(*(None if rate is None else float(rate) * MILLION for rate in rates))

    @property
    def known(self) -> bool:
        """Whether the cost of a call can be computed."""
        return self.input is not None and self.output is not None

    def or_else(self, other: "Prices") -> "Prices":
        """Fill missing prices from another set."""
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
        """Return dollars for that usage; cached input costs as much as other input if it has no price."""
        if self.input is None or self.output is None:
            return None
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / MILLION


class Answer(msgspec.Struct, frozen=True):
    """A reply without its price, and everything its price depends on."""

    reply: Reply
    reported: float | None = None
    """Dollars as reported by the provider or LiteLLM."""
    written: int = 0
    """Tokens of the prompt that the provider wrote to its cache."""
    tier: str = ""
    """The service tier that the provider reports, e.g. flex."""


class Card(msgspec.Struct, frozen=True):
    """What is known of a model's price."""

    prices: Prices
    from_table: bool = False
    """Whether the configuration sets no price, so that the table's finer rates apply."""
    entry: Mapping[str, Any] = {}
    """The model's entry in LiteLLM's table."""
    reported: bool = False
    """Whether the provider reports the cost with each answer."""

    @classmethod
    def of(cls, config: ModelConfig, entry: Mapping[str, Any]) -> "Card":
        """Combine the configuration with an entry of LiteLLM's table."""
        own = Prices.of_config(config)
        reported = config.name.startswith("openrouter/")
        return cls(own.or_else(Prices.of_table(entry)), own == Prices(), entry, reported)

    @property
    def known(self) -> bool:
        """Whether the cost of a call can be known."""
        return self.reported or self.prices.known

    def cost(self, answer: Answer) -> float | None:
        """Return dollars for a call; by the table's finer rates if the configuration sets no price."""
        if not self.from_table and self.prices.known:
            return self.prices.cost(answer.reply.usage)
        # OpenRouter reports the cost itself, also for models that the table does not have.
        if answer.reported:
            return answer.reported
        if self.from_table and self.prices.known:
            return by_table(self.entry, answer)
        return self.prices.cost(answer.reply.usage)


TIERS = ("flex", "priority", "fast", "balanced", "ultrafast")
"""The service tiers that have rates of their own in the table."""


def by_table(entry: Mapping[str, Any], answer: Answer) -> float:
    """Return dollars by an entry of LiteLLM's table: rates for long prompts, service tiers, cache writes."""
    usage = answer.reply.usage
    above = _above(entry, usage.input)
    tier = f"_{answer.tier}" if answer.tier in TIERS else ""

    def rate(what: str, otherwise: float = 0.0) -> float:
        names = (f"{what}{above}{tier}", f"{what}{above}", f"{what}{tier}", what)
        return next((float(entry[name]) for name in names if entry.get(name) is not None), otherwise)

    plain = rate("input_cost_per_token")
    # Providers may report more cached than read tokens; a negative rest would lower the price.
    cached = min(usage.cached, usage.input)
    written = min(answer.written, usage.input - cached)
    return (
        (usage.input - cached - written) * plain
        + cached * rate("cache_read_input_token_cost", plain)
        + written * rate("cache_creation_input_token_cost", plain)
        + usage.output * rate("output_cost_per_token")
    )


def _above(entry: Mapping[str, Any], tokens: int) -> str:
    """Return the suffix of rates for prompts of this length, e.g. `_above_272k_tokens`."""
    marks = {name.partition("_above_")[2].partition("k_tokens")[0] for name in entry if "k_tokens" in name}
    passed = [int(mark) for mark in marks if mark.isdecimal() and tokens > int(mark) * 1000]
    return f"_above_{max(passed)}k_tokens" if passed else ""
