"""`balrog-rag knowledge corpus check embedded`: how the guide was checked, and what may contradict itself."""

from collections.abc import Sequence

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus.embedded import claims, guide
from balrog_rag.knowledge.opening import make_embedder
from balrog_rag.knowledge.progress import shown_progress


def check(config: KnowledgeConfig, tag: str | None, listed: bool, likeness: float | None) -> int:
    """Print how many entries were checked in each way; optionally those only read, and similar pairs."""
    entries = [entry for entry in guide.entries() if tag is None or tag in entry.tags]
    if not entries:
        known = sorted({each for entry in guide.entries() for each in entry.tags})
        raise KnowledgeError(f"--tag {tag}: no entry has it; use one of {', '.join(known)}")
    if likeness is not None and not 0 < likeness <= 1:
        raise KnowledgeError(f"--pairs {likeness:g}: expected a number above 0 and at most 1, such as 0.8")
    found = claims.only_read(entries)
    counted = ", ".join(f"{number} {way}" for way, number in claims.ways(entries).items())
    print(f"{len(entries)} entries: {counted}")
    print(
        f"{len(found)} of those only read state numbers or absolutes ({sum(n for _, n in found)} sentences)"
    )
    if listed:
        for entry, number in found:
            print(f"{number:3}  {entry.subject}.md  {entry.title}")
    if likeness is not None:
        _print_pairs(config, entries, likeness)
    return 0


def _print_pairs(config: KnowledgeConfig, entries: Sequence[guide.GuideEntry], likeness: float) -> None:
    embedder = make_embedder(config)
    if embedder is None:
        raise KnowledgeError(
            f"knowledge.index={config.index}: --pairs needs vectors; use knowledge.index=flat_ip"
        )
    said = claims.comparable(entries)
    with shown_progress("comparing sentences", len(said)) as progress:
        vectors = embedder.passages([each.sentence for each in said], progress)
    number = 0
    for alike, one, other in claims.pairs(said, vectors, likeness):
        number += 1
        print(f"\n{alike:.2f}")
        for each in (one, other):
            print(f"  {each.entry.subject}.md  {each.entry.title}: {each.sentence}")
    print(f"\n{number} {'pair' if number == 1 else 'pairs'} of sentences to look at")
