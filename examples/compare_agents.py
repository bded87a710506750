"""Compare two agents in the same games.

python examples/compare_agents.py [KEY=VALUE ...]
"""

import sys

import balrog_rag


def main(*words: str) -> None:
    """Play both and print the verdict."""
    games = ("env=corridor", "env.episodes=6", "limits.steps=20", "run.seed=7")
    model = balrog_rag.evaluate("agent=naive", "model=scripted", *games, *words)
    random = balrog_rag.evaluate("agent=random", *games, *words)
    table = balrog_rag.load(model, random)
    print(table.groupby("agent")["progression_percent"].agg(["mean", "count"]).to_string())
    print(balrog_rag.compare(model, random).sentence)


if __name__ == "__main__":
    main(*sys.argv[1:])
