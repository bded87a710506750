"""The rules that are withheld from the delver until a passage that states them is shown."""

from collections.abc import Iterable
from typing import Any

from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.reader import WITHHELD

RULES = frozenset(each.name for each in WITHHELD)


class ShownRules(Switches):
    """Switches of which a rule is on only while it is shown."""

    shown: frozenset[str]

    def __init__(self) -> None:
        """Nothing is shown at first."""
        super().__init__()
        self.show(())

    def show(self, names: Iterable[str]) -> None:
        """Turn on these rules and no others."""
        self.__dict__["shown"] = frozenset(names)  # the dataclass is frozen

    def __getattribute__(self, name: str) -> Any:
        """Return whether a rule is shown; every other attribute as it is."""
        if name not in RULES:
            return super().__getattribute__(name)
        return name in self.shown
