"""A small program that fulfils the contract: it walks randomly, prints, and checks its observations."""

import random

from nle import nethack

MOVES = [list(nethack.ACTIONS).index(way) for way in nethack.CompassDirection]
MORE = list(nethack.ACTIONS).index(nethack.MiscAction.MORE)


class Bot:
    def reset(self, initial_observation):
        self.seen = 0
        assert initial_observation["blstats"].shape == (27,)
        assert not initial_observation["glyphs"].flags.writeable

    def act(self, observation):
        self.seen += 1
        print("seen", self.seen)
        return MORE if observation["misc"].any() else random.choice(MOVES)


def make_agent():
    return Bot()
