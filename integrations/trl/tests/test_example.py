"""The example: two real steps of GRPO, in which the model acts through TRL's tools."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "grpo_random_llama.py"


def test_two_steps_of_grpo_play_games_and_change_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    main = runpy.run_path(str(EXAMPLE))["main"]
    grpo = main(["--steps", "2", "--output", str(tmp_path)])
    assert grpo.state.global_step == 2
    steps = [log for log in grpo.state.log_history if "tools/call_frequency" in log]
    assert len(steps) == 2
    for log in steps:
        assert log["tools/call_frequency"] > 1
        assert log["tools/failure_frequency"] == 0
        assert 0 <= log["rewards/BalrogGame/mean"] <= 1
    assert any(log["reward_std"] > 0 and log["grad_norm"] > 0 for log in steps)
