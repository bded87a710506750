"""Runs an engine that calls step() in a thread of its own, one action and one observation at a time."""

import gc
import queue
import threading

from engine.agent import Walker


class Driver:
    engine = Walker

    def reset(self, observation):
        self.close()
        self.actions, self.observations = queue.Queue(1), queue.Queue(1)
        agent = self.engine(self.step)
        self.thread = threading.Thread(target=agent.main, args=(observation,), daemon=True)
        self.begun = False
        self.thread.start()
        gc.collect()
        gc.freeze()

    def step(self, action):
        self.actions.put(action)
        return {name: array.copy() for name, array in self.observations.get().items()}

    def act(self, observation):
        if self.begun:
            self.observations.put(observation)
        self.begun = True
        return self.actions.get(timeout=60)

    def close(self):
        self.thread = None
