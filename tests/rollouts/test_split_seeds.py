"""Splits share no game, and a seed follows from task, split and index alone."""

import pytest

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.rollouts.split_seeds import SPLITS, refuse_fixed_games, split_seed

TASK = "nle/NetHackChallenge-v0"


def test_no_two_splits_share_a_seed_in_100_000() -> None:
    drawn = {split: {split_seed(TASK, split, index) for index in range(100_000)} for split in SPLITS}
    for split, seeds in drawn.items():
        assert all(0 <= seed < 2**31 for seed in seeds)
        assert len(seeds) > 99_900, "few repetitions within a split"
        others = set().union(*(other for name, other in drawn.items() if name != split))
        assert not seeds & others


def test_a_seed_is_the_same_on_every_machine() -> None:
    assert split_seed(TASK, "train", 0) == 17874100
    assert split_seed(TASK, "train", 0) != split_seed("minihack/MiniHack-Room-5x5-v0", "train", 0)


@pytest.mark.parametrize(
    ("split", "index", "said"), [("trian", 0, "did you mean train"), ("eval", -1, "index")]
)
def test_wrong_splits_are_refused(split: str, index: int, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        split_seed(TASK, split, index)


def test_games_from_a_fixed_list_have_no_splits() -> None:
    with pytest.raises(ConfigError, match="fixed list"):
        refuse_fixed_games("textworld/treasure_hunter")
