"""The same for another engine."""

from adapter import Driver as Base
from engine.agent import Waiter


class Driver(Base):
    engine = Waiter
