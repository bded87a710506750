"""Retrieval as a wrapper of any agent: when to look up, what, in which form, and where it is shown."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from itertools import zip_longest
from operator import add
from typing import NamedTuple

from msgspec.structs import replace

from balrog_rag.agents.base import Wrappable, Wrapper
from balrog_rag.agents.kept_passages import KeptPassages
from balrog_rag.agents.lookup_worth import LookupWorth
from balrog_rag.agents.noticing import Noticer
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.agents.untrusted import neutralised
from balrog_rag.config.agent_schema import RetrievalConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import AnswerFormat, Decision, Message, Observation, Passage, Reply
from balrog_rag.contracts.signals import Concern
from balrog_rag.util.tokens import count_text

LABELLED = AnswerFormat((), before="Query: ")
"""Free text after a label, for models that can be constrained to a format."""

LONGEST_WRITTEN = 200
"""Characters kept of a query that the model wrote."""

_QUERY = re.compile(r"query\s*:[ \t]*([^\n]*)", re.IGNORECASE)
_LOOKUP = re.compile(r"<\|LOOKUP\|>(.*?)(?:<\|END\|>|$)", re.DOTALL)


class LookedUp(NamedTuple):
    """The result of a look-up: `text` is what the agent is shown, "" if nothing."""

    how: str
    """fresh, reused, kept; or why there is nothing: no label, no query, no passages, no summary, too long."""
    query: str = ""
    text: str = ""
    ids: tuple[str, ...] = ()
    """The passages that the text was made from."""


class Retrieval(Wrapper):
    """Adds reference material to the inner agent's prompt."""

    def __init__(self, inner: Wrappable, config: RetrievalConfig, llm: LLM, knowledge: Knowledge) -> None:
        """Every stage is configured by `config`."""
        super().__init__(inner)
        self.config, self.llm, self.knowledge = config, llm, knowledge
        from_signals = config.query in ("noticed", "truth")
        self._noticer = Noticer(self.signals, config.forget, config.low, states=from_signals)
        self._worth = LookupWorth(config.every, config.forget, config.gate)
        self._called = 0
        """Tokens used by this step's calls for queries and summaries."""
        self._known: OrderedDict[str, LookedUp] = OrderedDict()
        self._asked: OrderedDict[str, str] = OrderedDict()
        self._questions: dict[str, int] = {}
        self._urgent = from_signals and config.order == "urgent"
        self._concerns: Sequence[Concern] = ()
        self._memory = KeptPassages(config.keep_tokens)
        self._order = self._query_order([])
        self._offer = self.prompts.render("lookup_tools" if self.tools is not None else "lookup")
        self._steps = 0
        self._done: dict[str, int] = {}
        self._looked_at: int | None = None
        self._shown, self._shown_at = LookedUp(""), 0
        self._how = ""
        self.showing = LookedUp("")
        """The result for the newest observation."""

    async def ask(self, observation: Observation) -> Prompt:
        """Return the inner agent's prompt with the reference material."""
        prompt = await self.inner.ask(observation)
        # Called even if this step looks nothing up: it counts steps and remembers deeds.
        due = self._due(observation)
        if self.config.when == "asked":
            prompt.more.append(self._offer)
        self._called = 0
        found = self._with_relevant(await self._look_up(prompt, observation) if due else self._kept())
        if due:
            self._worth.took(self._steps, found.ids, self._called + count_text(found.text))
        else:
            self._worth.kept(count_text(found.text))
        self._show(prompt, found)
        return prompt

    async def answer(self, prompt: Prompt) -> Reply:
        """Return the inner agent's answer; if it asks for a look-up, its answer after that."""
        reply = await self.inner.answer(prompt)
        wanted = _LOOKUP.search(reply.text) if self.config.when == "asked" else None
        if wanted is None:
            return reply
        found = await self._find(bare_query(wanted.group(1)), prompt)
        prompt.more = [each for each in prompt.more if each != self._offer]
        self._show(prompt, found)
        if not found.text:
            prompt.after.append(self.prompts.render("lookup_failed", query=neutralised(found.query)))
        return await self.inner.answer(prompt)

    def read(self, reply: Reply) -> Decision:
        """Return the inner agent's decision, with the result of the look-up in its notes."""
        decision = self.inner.read(reply)
        return replace(decision, notes={**decision.notes, "lookup": self._how}) if self._how else decision

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Count a step that was decided elsewhere."""
        self._due(observation)
        self.inner.recall(observation, decision)

    # --- when ---

    def _due(self, observation: Observation) -> bool:
        """Whether this step looks something up without being asked to."""
        self._steps += 1
        self._done.update(self.signals.deeds(observation))
        if self._urgent:
            self._concerns = self.signals.concerns(observation, self._done)
        if self.config.when == "asked":  # nothing is looked up that the agent did not ask for
            return False
        # Both are evaluated at every step: the first remembers what it has seen.
        return self._due_by_policy(observation) or bool(self._memory.open(self._concerns))

    def _due_by_policy(self, observation: Observation) -> bool:
        if self.config.when == "novelty":
            if self._urgent:
                return bool(self._not_lately(self._memory.unknown(self._concerns)))
            return bool(self._noticer.new(observation))
        if self.config.when == "adaptive":
            return self._worth.due(self._steps, self.signals.health(observation.numbers))
        if self.config.when == "interval":
            return self._looked_at is None or self._steps - self._looked_at >= self.config.every
        return self.config.when == "every"

    def _kept(self) -> LookedUp:
        """Return an earlier result while it is still to be shown."""
        fresh = self._shown.text and self._steps - self._shown_at <= self.config.keep
        return self._shown._replace(how="kept") if fresh else LookedUp("")

    def _with_relevant(self, found: LookedUp) -> LookedUp:
        """Add what is kept about lasting states and the game's open question."""
        kept = [each for each in self._memory.relevant(self._concerns) if each.id not in found.ids]
        if not kept:
            return found
        text = "\n\n".join(filter(None, (listed(kept, self._most_chars(), self.config.titles), found.text)))
        ids = (*(each.id for each in kept), *found.ids)
        return LookedUp(found.how if found.text else "kept", found.query, text, ids)

    # --- what ---

    async def _look_up(self, prompt: Prompt, observation: Observation) -> LookedUp:
        self._looked_at = self._steps
        if self.config.query in ("noticed", "truth"):
            return await self._find_all(self._unasked(observation), prompt)
        if self.config.query in ("model", "model_memory"):
            query, trouble = await self._model_query(prompt)
            if trouble:
                return LookedUp(trouble)
        else:
            query = plain_query(self.config.query, observation)
        return await self._find(query, prompt)

    async def _model_query(self, prompt: Prompt) -> tuple[str, str]:
        """Return the query that the model writes, or what is wrong with it."""
        asked = [neutralised(query) for query in self._asked.values()]
        order = self._query_order(asked) if self.config.query == "model_memory" else self._order
        question = prompt.asking(order)
        reply = self._counted(await self.llm.complete(question.messages(), "query", LABELLED))
        prompt.answered(question, reply)
        label = _QUERY.search(reply.text)
        if label is None:
            return "", "no label"
        query = bare_query(label.group(1))
        return query, "" if query else "no query"

    def _counted(self, reply: Reply) -> Reply:
        self._called += reply.usage.input + reply.usage.output
        return reply

    def _query_order(self, asked: Sequence[str]) -> str:
        return self.prompts.render("query", asked=asked, examples=self.config.examples)

    def _unasked(self, observation: Observation) -> list[str]:
        """Return the moment's questions that were not asked lately, the most urgent first, up to a limit."""
        oldest = self._steps - self.config.forget
        self._questions = {question: step for question, step in self._questions.items() if step > oldest}
        due = self._memory.open(self._concerns)
        open_ = [*due, *self._not_lately(self._every_question(observation))]
        asked = list(dict.fromkeys(open_))[: self.config.queries]
        self._questions.update(dict.fromkeys(asked, self._steps))
        return asked

    def _not_lately(self, questions: Sequence[str]) -> list[str]:
        oldest = self._steps - self.config.forget
        return [each for each in questions if self._questions.get(each, oldest) <= oldest]

    def _every_question(self, observation: Observation) -> Sequence[str]:
        urgent = self._memory.unknown(self._concerns)
        if self.config.query == "truth":
            return [*urgent, *self.signals.truth(observation, self._done)]
        return urgent if self._urgent else self.signals.questions(observation)

    async def _find_all(self, queries: Sequence[str], prompt: Prompt) -> LookedUp:
        """Search for each query, and take passages from the results in turn, without duplicates."""
        if not queries:
            return LookedUp("no query")
        found = [await self.knowledge.search(query, self.config.k) for query in queries]
        for query, passages in zip(queries, found, strict=True):
            self._memory.learn(query, self._good_enough(passages))
        return await self._in_shape(
            "; ".join(queries), self._good_enough(in_turn(found))[: self.config.k], prompt
        )

    def _good_enough(self, passages: Sequence[Passage]) -> list[Passage]:
        floor = self.config.floor
        return [each for each in passages if floor is None or each.score >= floor]

    async def _find(self, query: str, prompt: Prompt) -> LookedUp:
        """Search, and bring the passages into the form that is shown."""
        if not query:
            return LookedUp("no query")
        key = folded(query)
        known = self._known.get(key)
        if known is not None:
            self._remember(key, known)
            return known._replace(how="reused")
        passages = await self.knowledge.search(query, self.config.k)
        found = await self._in_shape(query, self._good_enough(passages), prompt)
        self._remember(key, found)
        return found

    def _remember(self, key: str, found: LookedUp) -> None:
        self._asked[key] = found.query
        self._asked.move_to_end(key)
        if len(self._asked) > self.config.memory:
            self._asked.popitem(last=False)
        if self.config.reuse == "last":
            self._known.clear()
        if self.config.reuse != "never" and found.text:
            self._known[key] = found
            self._known.move_to_end(key)
        if len(self._known) > self.config.reuse_size:
            self._known.popitem(last=False)

    # --- in which shape, and where ---

    async def _in_shape(self, query: str, passages: Sequence[Passage], prompt: Prompt) -> LookedUp:
        if not passages:
            return LookedUp("no passages", query)
        ids = tuple(each.id for each in passages)
        if self.config.context != "summary":
            return LookedUp("fresh", query, listed(passages, self._most_chars(), self.config.titles), ids)
        found = listed(passages, self.config.source_chars, self.config.titles)
        words = self.prompts.render(
            "summary", state=prompt.now.strip(), passages=found, state_words=self.config.state_words
        )
        reply = self._counted(await self.llm.complete([Message("user", words)], "summary"))
        summary = neutralised(reply.text.strip())
        if len(summary) > self.config.max_summary:
            return LookedUp("too long", query)
        return LookedUp("fresh" if summary else "no summary", query, summary, ids)

    def _most_chars(self) -> int | None:
        return self.config.chars if self.config.context == "cut" else None

    def _show(self, prompt: Prompt, found: LookedUp) -> None:
        """Add the result to the prompt, if it has text."""
        self._how, self.showing = found.how, found
        if not found.text:
            return
        if found.how != "kept":
            self._shown, self._shown_at = found, self._steps
        places = {"before": prompt.before, "after": prompt.after, "system": prompt.guide}
        query = "" if "\n" in found.query else neutralised(found.query)
        if not prompt.shows(found.text):
            words = self.prompts.render("reference", query=query, text=found.text)
        elif found.how == "kept":
            return
        else:
            words = self.prompts.render("reference_above", query=query)
        places[self.config.place].append(words)


def plain_query(kind: str, observation: Observation) -> str:
    """Return a query that is simply a part of the observation."""
    if kind == "observation":
        return observation.long_term.strip()
    if kind == "short":
        return observation.short_term.strip()
    return f"{observation.short_term} {observation.long_term}".strip()


def in_turn(found: Sequence[Sequence[Passage]]) -> list[Passage]:
    """Return the first of each, then the second of each, and so on; each passage once."""
    rows = [passage for row in zip_longest(*found) for passage in row if passage is not None]
    return list({passage.id: passage for passage in rows}.values())


def bare_query(query: str) -> str:
    """Strip quotes, brackets and marks from around a model's query."""
    return " ".join(query.split()).strip(" \"'`*<>“”.")[:LONGEST_WRITTEN]


def folded(query: str) -> str:
    """Return the form by which queries are compared."""
    return " ".join(query.casefold().split())


def listed(passages: Sequence[Passage], chars: int | None, titles: bool) -> str:
    """Join passages, each cut to that many characters, and under its title if wanted."""
    texts = [neutralised(each.text[:chars]) for each in passages]
    heads = [f"{neutralised(each.title)}\n" if titles else "" for each in passages]
    return "\n\n".join(map(add, heads, texts))
