"""Play tasks as `vf-eval` does, through verifiers' interception, against a server on loopback."""

import asyncio
from pathlib import Path
from typing import Any

import verifiers.v1 as vf

GOTO = "babyai/BabyAI-MixedTrainLocal-v0/goto"
NLE = "nle/NetHackChallenge-v0"
QUICK = ["model.retry.attempts=2", "model.retry.first_wait=0.01"]


def environment(folder: Path, *, taskset: Any = (), harness: Any = (), agent: Any = ()) -> vf.Env[Any]:
    """The environment of this package with some settings."""
    config = vf.resolve_env_config(
        {
            "taskset": {"id": "balrog-verifiers", **dict(taskset)},
            "agent": {
                "harness": {
                    "id": "balrog-verifiers",
                    "folder": str(folder),
                    "overrides": QUICK,
                    **dict(harness),
                },
                **dict(agent),
            },
        }
    )
    return vf.load_environment(config)


async def traces(env: vf.Env[Any], url: str, tasks: int = 1, group: int = 1) -> list[vf.Trace]:
    """The traces of the first tasks, each played `group` times, all at once."""
    client = vf.EvalClientConfig(base_url=url, api_key_var="NO_SUCH_KEY")
    ctx = vf.ModelContext(client=client, model="org/Model-X", sampling=vf.SamplingConfig(temperature=0.5))
    slots = [slot for task in env.taskset.take(tasks) for slot in env.slots(task, group)]
    async with env.serving():
        episodes = await asyncio.gather(*(env.run_slot(slot, ctx) for slot in slots))
    return [trace for episode in episodes for trace in episode.traces]
