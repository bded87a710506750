"""Command-line flags: --help and -m are ours; --cfg, --info and shell completion are Hydra's own."""

import sys
from typing import Any

from balrog_rag import __version__
from balrog_rag.config import user_presets
from balrog_rag.config.groups import group_options, register_schema
from balrog_rag.config.schema import documented_keys
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.util.paths import data

HYDRA_SAYS = (
    *("--cfg", "-c", "--info", "-i"),
    *("--hydra-help", "--shell-completion", "-sc"),
)
SWEEP = ("--multirun", "-m")
TRUST = "--trust"
DRY_RUN = "--dry-run"
OURS = (*SWEEP, TRUST, DRY_RUN)
FLAGS = (*OURS, "--log", "--help", "-h", "--version", *HYDRA_SAYS)


def with_flags(words: list[str]) -> int:
    """Handle the flags; return the exit code."""
    words = _log_format(words)
    if "--help" in words or "-h" in words:
        from balrog_rag.cli.help import text

        print(text([word for word in words if not word.startswith("-")]))
        return 0
    if "--version" in words:
        print(f"balrog_rag {__version__}")
        return 0
    refuse_keys_as_flags(words)
    if not any(word.partition("=")[0] in HYDRA_SAYS for word in words):
        _refuse_unknown(words)
    trust = TRUST in words
    words = [word for word in words if word != TRUST]
    if trust and not any(word.startswith("resume=") for word in words):
        raise ConfigError("--trust: only valid with resume=FOLDER")
    if DRY_RUN in words:
        from balrog_rag.cli.dry_run import dry_run

        return dry_run([word for word in words if word not in OURS], any(word in SWEEP for word in words))
    if any(word in SWEEP for word in words):
        from balrog_rag.cli.evaluate import evaluate

        return evaluate([word for word in words if word not in SWEEP], trust, several=True)
    if any(word.partition("=")[0] in HYDRA_SAYS for word in words):
        return _hydra_says(words)
    from balrog_rag.cli.evaluate import evaluate

    return evaluate(words, trust)


def refuse_keys_as_flags(words: list[str], command: str = "") -> None:
    """Reject `--agent naive`, `-episodes 3`: keys, or their last parts, written as flags."""
    keys = [*group_options(), *(key for key, _ in documented_keys())]
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if not word.startswith("-") or word in FLAGS or f"--{name}" in FLAGS:
            continue
        meant = [name] if name in keys else [key for key in keys if key.endswith(f".{name}")]
        given = value if equals else after if after[:1] not in ("", "-") and "=" not in after else "VALUE"
        if meant:
            raise ConfigError(
                f"{word}: a key, not a flag; write {command}{' or '.join(f'{key}={given}' for key in meant)}"
            )


def _refuse_unknown(words: list[str]) -> None:
    """Reject an unknown flag; Hydra itself checks flags if one of its own is given."""
    for word in words:
        if word.startswith("-") and word not in OURS:
            raise ConfigError(f"{word}: no such flag{nearest(word, FLAGS)}")


def _log_format(words: list[str]) -> list[str]:
    """Expand `--log json` to runner.log=json."""
    words = [f"runner.{word[2:]}" if word.startswith("--log=") else word for word in words]
    if "--log" not in words:
        return words
    at = words.index("--log")
    return [*words[:at], f"runner.log={''.join(words[at + 1 : at + 2])}", *words[at + 2 :]]


def _hydra_says(words: list[str]) -> int:
    """Let Hydra answer, with our configuration; invalid overrides are still one line."""
    import hydra

    from balrog_rag.config.compose import as_hydra_wants, compose

    given = [word for word in words if word.startswith(f"{user_presets.KEY}=")]
    folder, words = user_presets.split(words)
    overrides = [word for word in words if "=" in word and not word.startswith("-")]
    if "--shell-completion" not in words and overrides:
        name = compose([*given, *overrides]).model.name
        words = [f"model.name='{name}'" if word.startswith("model.name=") else word for word in words]
    register_schema()

    def nothing(config: Any) -> None:
        """Never called: these flags end before a job runs."""

    sys.argv = ["balrog-rag run", *user_presets.search_path(folder), *map(as_hydra_wants, words)]
    hydra.main(config_path=str(data("conf")), config_name="config", version_base="1.3")(nothing)()
    return 0
