"""What runs in a guest's process: loads `bot.py`, and answers each screen with an action.

python child.py FD PARENT

It imports nothing of this package, so that it is whatever the program makes of it.
"""

import ctypes
import importlib
import json
import os
import random
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

LENGTH = 4
DIE_WITH_PARENT = 1


def receive(line: socket.socket) -> bytes:
    """The next message; the process ends where nobody is there any more."""
    data = bytearray()
    need = LENGTH
    while len(data) < need:
        part = line.recv(need - len(data))
        if not part:
            os._exit(0)
        data += part
        if need == LENGTH and len(data) == LENGTH:
            need = LENGTH + int.from_bytes(data, "little")
    return bytes(data[LENGTH:])


def send(line: socket.socket, text: str) -> None:
    """Say something."""
    data = text.encode("utf-8", "replace")
    line.sendall(len(data).to_bytes(LENGTH, "little") + data)


def screen(data: bytes, layout: list[Any]) -> dict[str, Any]:
    """The arrays of a message, which cannot be written to."""
    arrays, begin = {}, 0
    for name, kind, shape in layout:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, kind, count, begin).reshape(shape)
        begin += arrays[name].nbytes
    return arrays


def load(about: dict[str, Any]) -> Any:
    """The bot, made under its limits and with its dice thrown in a known place."""
    resource.setrlimit(resource.RLIMIT_DATA, (about["memory"], about["memory"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    random.seed(about["seed"])
    np.random.seed(about["seed"] % (1 << 32))
    folder, file = about["path"], "bot"
    if about["function"]:
        folder, file = os.path.split(about["path"])
        file = file.removesuffix(".py")
    sys.path.insert(0, folder)
    os.chdir(folder)
    module = importlib.import_module(file)
    return Policy(getattr(module, about["function"])) if about["function"] else module.make_agent()


class Policy:
    """A function as a bot."""

    def __init__(self, act: Callable[[dict[str, Any]], Any]) -> None:
        self.act = act

    def reset(self, observation: dict[str, Any]) -> None:
        """A function has nothing to reset: its process is new for every game."""


def serve(line: socket.socket) -> None:
    """Answer until the line is cut."""
    about = json.loads(receive(line))
    bot = load(about)
    bot.reset(screen(receive(line), about["layout"]))
    send(line, "ready")
    while True:
        action = bot.act(screen(receive(line), about["layout"]))
        plain = isinstance(action, int | np.integer) and not isinstance(action, bool)
        send(line, str(int(action)) if plain else f"{type(action).__name__} {action!r}"[:100])


def main() -> None:
    """Serve, and say in one line what went wrong."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != int(sys.argv[2]):
            os._exit(1)
    with socket.socket(fileno=int(sys.argv[1])) as line:
        try:
            serve(line)
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's program raises
            try:
                send(line, f"!{type(error).__name__}: {error}")
            except OSError:
                pass
    os._exit(1)


if __name__ == "__main__":
    main()
