"""One agent that plays one game, in verifiers' own process."""

import verifiers.v1 as vf


class BalrogEnvConfig(vf.EnvConfig):
    """`agent` is the one seat. It needs no container: the harness executes nothing that a model wrote."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class BalrogEnv(vf.Env[BalrogEnvConfig]):
    """The environment that `vf-eval balrog-verifiers` runs."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play the task's game."""
        await agents.agent.run(task)
