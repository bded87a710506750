"""Every task as a Gymnasium environment: `import balrog_rag.gym` registers them.

    import gymnasium, balrog_rag.gym

    env = gymnasium.make("balrog_rag/NetHackChallenge-v0", observation="text")
    envs = gymnasium.make_vec("balrog_rag/NetHackChallenge-v0", num_envs=16)     in worker processes

`gymnasium.make("balrog_rag.gym:balrog_rag/NetHackChallenge-v0")` imports this module by itself. See
docs/how-to/use-as-a-gymnasium-environment.md.
"""

from balrog_rag.gym.game_env import GameEnv as GameEnv
from balrog_rag.gym.game_vector_env import GameVectorEnv as GameVectorEnv
from balrog_rag.gym.task_ids import register_tasks as register_tasks
from balrog_rag.gym.task_ids import task_id as task_id

register_tasks()
