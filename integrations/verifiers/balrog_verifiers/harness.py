"""A harness whose program is an agent of balrog_rag, in verifiers' own process.

Every model call goes through verifiers' interception; the rest of a rollout (prompts, game, journal, score)
is balrog_rag's.
"""

import msgspec
import verifiers.v1 as vf

import balrog_rag
from balrog_rag.rollouts.rollout_result import RolloutResult
from balrog_verifiers.taskset import INFO, BalrogData


class RolloutFailed(Exception):
    """A rollout without a score. verifiers records it as an error of the trace, which then has no reward."""


class BalrogHarnessConfig(vf.HarnessConfig):
    """Who plays, and where journals are kept."""

    id: vf.ID = "balrog-verifiers"
    agent: str = "naive_append"
    """A registered agent or preset. Those that end in `_append` give one training sample per segment."""
    overrides: list[str] = []
    """KEY=VALUE of the agent, its knowledge or its limits, as for `balrog-rag run`."""
    deadline: float | None = None
    """Most seconds per rollout; a longer one is an error and has no reward."""
    folder: str | None = None
    """Where journals are kept; none: the user's cache folder."""


class BalrogHarness(vf.Harness[BalrogHarnessConfig]):
    """Plays a game of the taskset with an agent of balrog_rag."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Play one game; the result is in the trace's `info`."""
        if not isinstance(data, BalrogData):
            raise TypeError(f"harness {self.config.id}: plays tasks of balrog-verifiers only")
        if data.system_prompt:
            raise ValueError(
                "system_prompt: the agent writes its own; set agent.prompts in harness.overrides"
            )
        turns = trace.agent.config.max_turns
        result = await balrog_rag.rollout(
            data.task,
            seed=data.seed,
            agent=self.config.agent,
            overrides=[*data.overrides, *self.config.overrides],
            max_steps=min((most for most in (data.max_steps, turns) if most), default=None),
            deadline=self.config.deadline,
            model={
                "base_url": endpoint,
                "name": ctx.model,
                "api_key": secret,
                "sampling": _longest_answer(ctx.sampling),
            },
            id=trace.id,
            folder=self.config.folder,
        )
        if result.error is not None:
            raise RolloutFailed(result.error)
        trace.info[INFO] = about(result)
        return vf.ProgramResult(exit_code=0, stdout=result.json().decode(), stderr="")


def about(result: RolloutResult) -> dict[str, object]:
    """Return a result as plain data."""
    plain: dict[str, object] = msgspec.to_builtins(result)
    return plain


def _longest_answer(sampling: vf.SamplingConfig) -> dict[str, int]:
    """Return the one field of sampling that the harness needs: prompts leave room for the answer.

    The interception adds the others to every request.
    """
    return {"max_tokens": sampling.max_tokens} if sampling.max_tokens else {}
