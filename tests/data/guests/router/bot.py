"""A program of the shape of the strongest ones: a router that gives each identity to one of its engines."""

import importlib
import json
import os
import tempfile
from pathlib import Path

import roles

CACHE = Path(tempfile.gettempdir()) / "router_cache"
CACHE.mkdir(parents=True, exist_ok=True)
os.environ.setdefault("XDG_CACHE_HOME", str(CACHE))
ROUTES = json.loads(Path(__file__).with_name("routes.json").read_text())
"""Identity prefix -> module of its engine."""


class Router:
    def __init__(self):
        self.drivers = {}

    def reset(self, observation):
        self.identity, self.asked, self.driver = roles.identity(observation), 0, None

    def act(self, observation):
        if self.driver is None and not self.identity and self.asked < 2:
            self.asked += 1
            self.identity = roles.identity(observation)
            return roles.ATTRIBUTES if self.asked == 1 else roles.ESC
        if self.driver is None:
            route = next((ROUTES[name] for name in ROUTES if self.identity.startswith(name)), "adapter")
            self.driver = self.drivers.setdefault(route, importlib.import_module(route).Driver())
            self.driver.reset(observation)
        return self.driver.act(observation)

    def close(self):
        for driver in self.drivers.values():
            driver.close()


def make_agent():
    return Router()
