"""Which runs the overrides of a sweep make."""

import pytest

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.grid import combinations


def names(*words: str) -> list[str]:
    return [combination.name for combination in combinations(list(words))]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["agent=naive,cot"], ["agent=naive", "agent=cot"]),
        (["agent=cot,few", "run.seed=1,2"],
         ["agent=cot,run.seed=1", "agent=cot,run.seed=2", "agent=few,run.seed=1", "agent=few,run.seed=2"]),
        (["run.seed=range(0,3)"], ["run.seed=0", "run.seed=1", "run.seed=2"]),
        (["agent=glob(robust_[cn]*)"], None),
        (["agent=glob(naive*)"], ["agent=naive", "agent=naive_append", "agent=naive_rag"]),
        (["run.seed=choice(5,7)", "env.episodes=3"], ["run.seed=5", "run.seed=7"]),
        (["env.tasks=[nle/A],[minihack/B,minihack/C]"],
         ["env.tasks=_nle_A", "env.tasks=_minihack_B,minihack_C"]),
        (["run.seed=5"], ["run"]),
        (["run.name='a b','a*b'"], ["run.name=a_b-0", "run.name=a_b-1"]),
        (["agent=naive,naive"], ["agent=naive-0", "agent=naive-1"]),
        (["run.seed=interval(0,1)"], None),
    ],
)  # fmt: skip
def test_combinations(words: list[str], expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(ConfigError):
            combinations(words)
    else:
        assert names(*words) == expected


def test_names_are_folders() -> None:
    (name, other) = names("model.name='../../etc/x y','" + "a" * 300 + "'")
    assert "/" not in name
    assert not name.startswith(".")
    assert len(other) <= 120


def test_fixed_words_are_in_every_run() -> None:
    first, second = combinations(["env.episodes=3", "agent=naive,cot", "run.folder='a,b'"])
    assert set(first.words) == {"env.episodes=3", "run.folder='a,b'", "agent=naive"}
    assert set(second.words) == {"env.episodes=3", "run.folder='a,b'", "agent=cot"}
