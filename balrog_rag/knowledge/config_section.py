"""The knowledge section of conf/ alone, for commands that need no other section."""

from balrog_rag.config import compose as whole
from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import ConfigError

_GROUP = "knowledge"


def compose(words: list[str]) -> KnowledgeConfig:
    """Compose the settings of conf/knowledge: `knowledge=OPTION` and `knowledge.KEY=VALUE`, as for a run."""
    for word in words:
        if not word.startswith((f"{_GROUP}=", f"{_GROUP}.", f"+{_GROUP}.", f"~{_GROUP}.")):
            raise ConfigError(f"{word}: not understood; settings are {_GROUP}=OPTION or {_GROUP}.KEY=VALUE")
    return whole.compose(words).knowledge
