"""The games of balrog_rag as tasks of Inspect: `inspect eval balrog_rag/nethack --model NAME`."""

from balrog_inspect.tasks import babaisai, babyai, crafter, minihack, nethack, textworld

__all__ = ["babaisai", "babyai", "crafter", "minihack", "nethack", "textworld"]
