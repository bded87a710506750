"""What to try after the embedded model has shown that everything works."""

from collections.abc import Sequence
from pathlib import Path

from balrog_rag import agents
from balrog_rag.run.plan import PlannedRun
from balrog_rag.util.shell_commands import command


def next_steps(runs: Sequence[PlannedRun], folder: Path) -> str:
    """Return the commands to try next; empty if no run used the embedded model."""
    if not any(run.config.model.backend == "local" and agents.asks_model(run.config.agent) for run in runs):
        return ""
    verdicts = f"For the verdicts of this table:\n  {command('report', folder)}"
    return "\n".join(
        [
            "The embedded model only shows that everything works. Next, with a real model:",
            "  balrog-rag run model=openai limits.steps=20 --dry-run   (estimates its price, without a key)",
            "  OPENAI_API_KEY=... balrog-rag run model=openai limits.run.dollars=5",
            "  (or model=anthropic, gemini, vllm, ollama, ...: docs/reference/models.md)",
            *([verdicts] if len(runs) > 1 else []),
        ]
    )
