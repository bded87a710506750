"""Checkpoints on disk: weights as safetensors, and their description as JSON. Nothing is pickled."""

from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from balrog_rag.contracts.errors import ConfigError, DatasetError
from balrog_rag.util.extras import require

if TYPE_CHECKING:
    from torch import Tensor

    from balrog_rag.dataset.learn.plain import PlainNetwork

WEIGHTS, ABOUT, STATE = "weights.safetensors", "about.json", "state.safetensors"


class About(msgspec.Struct, frozen=True):
    """The description of a checkpoint: enough to build its network and to continue training."""

    keys: tuple[int, ...]
    dataset: str
    games: tuple[int, ...]
    seed: int
    batch: int
    length: int
    rate: float
    steps: int = 0
    frames: int = 0


def weights_of(path: Path) -> Path:
    """Return the path of a checkpoint's weights; the checkpoint is given as its folder or as that path."""
    file = path / WEIGHTS if path.is_dir() else path
    if not file.is_file():
        raise ConfigError(
            f"agent.options.path={path}: no checkpoint there; make one with balrog-rag learn bc"
        )
    return file


def digest_of(path: Path) -> str:
    """Digest of a checkpoint's weights and description."""
    with weights_of(path).open("rb") as weights, (weights_of(path).parent / ABOUT).open("rb") as about:
        return file_digest(weights, "sha256").hexdigest()[:32] + about_digest(about.read())


def about_digest(data: bytes) -> str:
    """Digest of the part of the description that determines play: the keys, in order."""
    from balrog_rag.contracts.data import digest

    return digest(msgspec.json.encode(msgspec.json.decode(data, type=About).keys))[:8]


def read_about(folder: Path) -> About:
    """Read the description of a checkpoint."""
    path = folder / ABOUT
    try:
        return msgspec.json.decode(path.read_bytes(), type=About)
    except (OSError, msgspec.DecodeError) as error:
        raise DatasetError(f"{path}: cannot be read ({error}); the checkpoint is incomplete") from error


def load_network(path: Path) -> "PlainNetwork":
    """Load the network of a checkpoint, ready to play."""
    require("safetensors", "learn", "agent=checkpoint")
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    from balrog_rag.dataset.learn.plain import PlainNetwork

    weights = weights_of(path)
    try:
        return PlainNetwork(load_file(weights), read_about(weights.parent).keys)
    except (SafetensorError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise DatasetError(f"{weights}: not a checkpoint of this version ({reason})") from error


def write(folder: Path, name: str, tensors: Mapping[str, "Tensor"]) -> None:
    """Write a file of tensors atomically."""
    from safetensors.torch import save_file

    draft = folder / f".{name}.tmp"
    save_file({key: value.detach().contiguous().clone() for key, value in tensors.items()}, draft)
    draft.replace(folder / name)


def write_about(folder: Path, about: About) -> None:
    """Write the description; last, since it says how far the other files have come."""
    draft = folder / f".{ABOUT}.tmp"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(about), indent=2) + b"\n")
    draft.replace(folder / ABOUT)


def settled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a player's options with the digest of its checkpoint, which determines its play."""
    if "path" not in options:
        raise ConfigError("agent.options.path: names no checkpoint; make one with balrog-rag learn bc")
    return {**options, "digest": options.get("digest") or digest_of(Path(options["path"]))}
