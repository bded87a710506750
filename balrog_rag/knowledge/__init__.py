"""The knowledge base: corpus -> passages -> vectors -> index -> search. Nothing here plays a game."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from balrog_rag.config.schema import KnowledgeConfig
    from balrog_rag.knowledge.corpus import Corpus
    from balrog_rag.knowledge.retriever import BatchRetriever


def resolve(config: "KnowledgeConfig") -> "KnowledgeConfig":
    """Return the settings with the digest of their passages filled in, for an episode's spec."""
    if config.corpus_digest is not None:
        return config
    return replace(config, corpus_digest=_corpus(config.corpus, config.tokens, config.overlap).digest)


def check_named(config: "KnowledgeConfig", named: Mapping[str, Sequence[str]]) -> None:
    """Refuse ids of passages, by what they are named for, that a corpus does not have."""
    if not named or config.corpus_digest is not None:  # checked when the run began
        return
    from balrog_rag.contracts.errors import KnowledgeError
    from balrog_rag.contracts.registry import nearest

    corpus = _corpus(config.corpus, config.tokens, config.overlap)
    known = {passage.id for passage in corpus.passages}
    for what, ids in named.items():
        for wanted in ids:
            if wanted not in known:
                raise KnowledgeError(
                    f"{what}: the passage {wanted!r} is not in corpus {corpus.name}{nearest(wanted, known)}; "
                    "correct the file that names it, or use the corpus that it was written for"
                )


def require_extras(config: "KnowledgeConfig") -> None:
    """Raise an error that names a missing extra, before anything is fetched or indexed."""
    from balrog_rag.contracts import registry
    from balrog_rag.util.extras import require_of

    if registry.indexes.get(config.index).needs_vectors:
        require_of(registry.embedders.get(config.embedder), f"knowledge.embedder={config.embedder}")
    if config.reranker is not None:
        require_of(registry.rerankers.get(config.reranker), f"knowledge.reranker={config.reranker}")


def check_corpus(config: "KnowledgeConfig") -> None:
    """Raise an error if the corpus is not on this machine; its passages are not read."""
    from balrog_rag.knowledge.corpus import check
    from balrog_rag.knowledge.passages import Cut

    check(config.corpus, Cut(config.tokens, config.overlap))


def check_corpus_name(config: "KnowledgeConfig") -> None:
    """Raise an error if there is no such corpus, here or to be fetched."""
    from balrog_rag.knowledge.corpus import known_and_here
    from balrog_rag.knowledge.passages import Cut

    known_and_here(config.corpus, Cut(config.tokens, config.overlap))


def has_corpus(config: "KnowledgeConfig") -> bool:
    """Whether the corpus is on this machine."""
    from balrog_rag.contracts.errors import KnowledgeError

    try:
        check_corpus(config)
    except KnowledgeError:
        return False
    return True


def count(config: "KnowledgeConfig") -> int:
    """Count the passages that the settings select."""
    return len(_corpus(config.corpus, config.tokens, config.overlap).passages)


def build(config: "KnowledgeConfig") -> "BatchRetriever":
    """Build the retriever for the settings, ready to search; its index is built at first use."""
    from balrog_rag.knowledge.controls import controlled
    from balrog_rag.knowledge.opening import open_searcher
    from balrog_rag.knowledge.retriever import BatchRetriever

    corpus = _corpus(config.corpus, config.tokens, config.overlap)
    searcher = controlled(open_searcher(config, corpus), config.control)
    return BatchRetriever(f"{config.corpus}/{config.index}", searcher)


@lru_cache(maxsize=4)
def _corpus(name: str, tokens: int, overlap: int) -> "Corpus":
    """Load a corpus once, for the spec and for the search: cutting a folder of notes takes seconds."""
    from balrog_rag.knowledge.corpus import load
    from balrog_rag.knowledge.passages import Cut

    return load(name, Cut(tokens, overlap))
