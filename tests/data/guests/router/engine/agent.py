"""Two engines."""

import random

from nle import nethack

WAYS = [nethack.ACTIONS.index(way) for way in nethack.CompassDirection]
SEARCH = nethack.ACTIONS.index(nethack.Command.SEARCH)


class Walker:
    def __init__(self, step):
        self.step = step

    def main(self, observation):
        while True:
            observation = self.step(self.choose(observation))

    def choose(self, observation):
        return random.choice(WAYS)


class Waiter(Walker):
    def choose(self, observation):
        return SEARCH
