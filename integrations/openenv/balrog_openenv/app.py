"""The server: `python -m balrog_openenv.app --port 8000`."""

import argparse
from collections.abc import Sequence

import uvicorn
from fastapi import FastAPI
from openenv.core.env_server.http_server import create_app

from balrog_openenv.environment import NAME, BalrogEnvironment
from balrog_openenv.models import BalrogAction, BalrogObservation, BalrogState

AT_ONCE = 64


def application(at_once: int = AT_ONCE) -> FastAPI:
    """Return the application; every WebSocket session has a game of its own."""
    return create_app(
        BalrogEnvironment,
        BalrogAction,
        BalrogObservation,
        env_name=NAME,
        max_concurrent_envs=at_once,
        state_cls=BalrogState,
    )


app = application()


def main(words: Sequence[str] | None = None) -> None:
    """Serve until a signal stops it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args(words)
    uvicorn.run(app, host=options.host, port=options.port)


if __name__ == "__main__":
    main()
