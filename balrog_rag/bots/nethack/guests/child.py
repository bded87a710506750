"""The code of a guest's process: load `bot.py`, and answer each screen with an action.

python child.py FD PARENT

It imports nothing of this package, so that the process contains only what the program itself imports.
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
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

LENGTH = 4
MOST_FRAMES = 40
"""Innermost frames of a traceback that are reported: endless recursion has a thousand."""
DIE_WITH_PARENT = 1


def receive(line: socket.socket) -> bytes:
    """Return the next message; end the process if the other side has gone."""
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
    """Send a message."""
    data = text.encode("utf-8", "replace")
    line.sendall(len(data).to_bytes(LENGTH, "little") + data)


def screen(data: bytes, layout: list[Any]) -> dict[str, Any]:
    """Return the arrays of a message, read-only."""
    arrays, begin = {}, 0
    for name, kind, shape in layout:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, kind, count, begin).reshape(shape)
        begin += arrays[name].nbytes
    return arrays


def load(about: dict[str, Any]) -> Any:
    """Import the bot's factory within its limits and with seeded random generators."""
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
    made = getattr(importlib.import_module(file), about["function"] or "make_agent")
    if not callable(made):
        raise TypeError(f"{made!r} is not a function")
    return made


class UserFunction:
    """Adapts a function to a bot."""

    def __init__(self, act: Callable[[dict[str, Any]], Any]) -> None:
        self.act = act

    def reset(self, observation: dict[str, Any]) -> None:
        """Do nothing: a process is new for every game."""


def serve(line: socket.socket) -> None:
    """Answer until the connection closes."""
    about = json.loads(receive(line))
    calls.folder = about["folder"]
    made = load(about)
    if about["check"]:
        send(line, "ready")
        return
    calls.called = made
    bot = UserFunction(made) if about["function"] else made()
    calls.called = getattr(bot, "act", made) if not about["function"] else made
    bot.reset(screen(receive(line), about["layout"]))
    send(line, "ready")
    while True:
        action = bot.act(screen(receive(line), about["layout"]))
        if not isinstance(action, int | np.integer) or isinstance(action, bool):
            raise TypeError(f"returned {action!r:.60}, expected an integer from 0 to {about['actions'] - 1}")
        if not 0 <= action < about["actions"]:
            raise ValueError(f"returned {action}, expected an integer from 0 to {about['actions'] - 1}")
        send(line, str(int(action)))


class BotCall:
    """The current call to the bot, for error reports."""

    folder = ""
    called: Any = None


calls = BotCall()


def report(error: BaseException) -> dict[str, str]:
    """Report what went wrong and where: in the bot's own files if the traceback contains one."""
    what = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(calls.folder + os.sep)]
    code = getattr(calls.called, "__code__", None)
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
    elif own:
        where = f"{own[-1].filename}:{own[-1].lineno} in {own[-1].name}: {what}"
    elif code is not None:
        where = f"{code.co_filename}:{code.co_firstlineno} in {code.co_name}: {what}"
    else:
        where = what
    trace = "".join(traceback.format_exception(error, limit=-MOST_FRAMES))
    return {"what": what, "where": where, "trace": trace}


def main() -> None:
    """Serve, and report an error in one line."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != int(sys.argv[2]):
            os._exit(1)
    with socket.socket(fileno=int(sys.argv[1])) as line:
        try:
            serve(line)
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's program raises
            try:
                send(line, "!" + json.dumps(report(error)))
            except OSError:
                pass
    os._exit(1)


if __name__ == "__main__":
    main()
