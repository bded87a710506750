"""What Inspect imports to find the tasks; the entry point's name `balrog_rag` is their prefix."""

from balrog_inspect.tasks import babaisai, babyai, crafter, minihack, nethack, textworld

__all__ = ["babaisai", "babyai", "crafter", "minihack", "nethack", "textworld"]
