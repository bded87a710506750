"""`balrog-rag models canary MODEL`: has the model behind this name changed?"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from balrog_rag import models
from balrog_rag.config.compose import compose
from balrog_rag.config.groups import group_options
from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models.canary import Canary, ask, settings
from balrog_rag.results.run_folder import frozen_config, write_json
from balrog_rag.results.served import CANARY, canaries
from balrog_rag.util.wording import many

MOST_KEPT = 100
"""Sets of answers kept beside a run; the oldest are removed first."""


def canary(model: str, overrides: Sequence[str], run: Path | None) -> int:
    """Ask the questions, print what came back, and store it beside the run."""
    config = _config(model, overrides)
    if run is not None:
        frozen_config(run)  # refuses what is not a run folder before anything is paid for
    asked = asyncio.run(_asked(config))
    print(f"{asked.model}: canary {asked.digest} ({many(len(asked.answers), 'answers')})")
    for what, said in (("returned model id", asked.served), ("fingerprint", asked.fingerprints)):
        print(f"  {what}: {', '.join(said) or 'none'}")
    if run is not None:
        _store(run, asked)
    return 0


def _config(model: str, overrides: Sequence[str]) -> ModelConfig:
    for word in overrides:
        if not word.lstrip("+").startswith("model."):
            raise ConfigError(f"{word}: not a setting of the model; use model.KEY=VALUE")
    model = model.removeprefix("model=")  # as it is written for a run
    chosen = (
        [f"model={model}"] if model in group_options()["model"] else ["model=openai", f"model.name={model}"]
    )
    return settings(compose([*chosen, *overrides]).model)


async def _asked(config: ModelConfig) -> Canary:
    model = models.build(config)
    try:
        return await ask(model, config.name, datetime.now(UTC).isoformat(timespec="seconds"))
    finally:
        await model.close()


def _store(run: Path, asked: Canary) -> None:
    known = canaries(run)
    facts = {**msgspec.structs.asdict(asked), "digest": asked.digest}
    write_json(run / CANARY, [*map(msgspec.to_builtins, known[-MOST_KEPT + 1 :]), facts])
    path = run / CANARY
    same = known and known[-1].digest == asked.digest
    changed = "" if not known else " (as before)" if same else f" (before: {known[-1].digest})"
    print(f"  stored in {path}{changed}")
