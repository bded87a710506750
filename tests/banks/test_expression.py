"""Conditions of banks: what they mean, and what is refused."""

from collections.abc import Mapping

import pytest

from balrog_rag.banks.expression import Expression
from balrog_rag.contracts.errors import ConfigError


class Here:
    """A moment with these numbers."""

    def __init__(
        self, numbers: Mapping[str, float], screen: str = "", done: Mapping[str, int] | None = None
    ) -> None:
        self.numbers, self.screen, self.done = numbers, screen, done or {}

    def value(self, name: str) -> float:
        return self.numbers.get(name, 0)

    def shows(self, text: str) -> bool:
        return text in self.screen

    def did(self, action: str) -> int:
        return self.done.get(action, 0)


HERE = Here({"hp": 4, "max_hp": 13, "depth": 5, "xp_2": True}, "a pick-axe", {"pray": 1})


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("depth >= 5 and hp * 3 < max_hp", True),
        ("depth == 5 != hp", True),
        ("1 < depth <= 4", False),
        ("not xp_2", False),
        ("not met or xp_2", True),
        ("-hp + 4 == 0 and (hp + 1) % 2 == 1 and max_hp // 2 == 6 and max_hp / 2 == 6.5", True),
        ("hp / met > 0", False),
        ("not hp / met", False),
        ("hp / met > 0 or depth == 5", True),
        ("hp / met > 0 and depth == 6", False),
        ('shows("pick-axe") and did("pray") == 1 and not shows("wand")', True),
        ("True", True),
    ],
)
def test_it_means_what_python_means(text: str, holds: bool) -> None:
    assert Expression(text).holds(HERE) is holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hp <",
        "__import__('os')",
        "hp.real",
        "hp[0]",
        "hp ** 2",
        "hp << 9",
        "lambda: 1",
        "[hp]",
        "f'{hp}'",
        "(hp := 3)",
        "hp if depth else 1",
        "'text' == hp",
        "hp is depth",
        "hp in depth",
        "1e400",
        "10 ** 9",
        "1000000000000000000",
        "shows(hp)",
        "shows('a', 'b')",
        "shows(text='a')",
        "shows",
        "shows('')",
        "did('" + "a" * 101 + "')",
        "eval('1')",
        "1j",
        "None",
        "hp" + " + 1" * 400,
        "+" * 30 + "1",
        "(" * 400 + "1" + ")" * 400,
        "\0",
    ],
)
def test_everything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Expression(text)
    assert "--where" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_misspelt_name_is_refused_with_the_right_one() -> None:
    with pytest.raises(ConfigError, match="unknown name 'depht'; did you mean"):
        Expression("depht > 3").refuse_unknown({"depth", "hp"})
