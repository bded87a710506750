"""Trimming of a prompt that is too long: the oldest turns, always the same ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from balrog_rag.contracts.data import Message
from balrog_rag.models.fit import cut, fit, shorter
from balrog_rag.models.token_counts import count_messages, count_text, most_tokens


def prompt(turns, *, stable=True):
    history = [Message("user" if n % 2 == 0 else "assistant", f"turn {n} " + "x" * 300) for n in range(turns)]
    return (Message("system", "rules " * 20, stable=stable), *history, Message("user", "now " * 20))


def test_what_fits_stays_whole():
    messages = prompt(6)
    assert fit(messages, count_messages(messages)) == (messages, 0)
    assert fit(messages, None) == (messages, 0)


def test_the_oldest_turns_go_first_with_the_answers_to_them():
    messages = prompt(6)
    kept, trimmed = fit(messages, count_messages(messages) - 1)
    assert trimmed == 2
    assert kept == (messages[0], *messages[3:])


def test_head_and_newest_message_stay_whatever_the_limit():
    messages = prompt(6)
    assert fit(messages, 1) == ((messages[0], messages[-1]), 6)
    assert fit(messages[:1], 1) == (messages[:1], 0)
    assert fit((), 1) == ((), 0)


@pytest.mark.parametrize("stable", [True, False])
def test_the_head_ends_at_the_last_mark_or_behind_the_first_message(stable):
    head = (Message("system", "a"), Message("user", "demonstration", stable=stable))
    rest = (Message("user", "old " * 90), Message("user", "new"))
    kept, trimmed = fit((*head, *rest), 10)
    assert kept == ((*head, rest[-1]) if stable else (head[0], rest[-1]))
    assert trimmed == (1 if stable else 2)


messages = st.builds(
    Message,
    st.sampled_from(["user", "assistant"]),
    st.text(max_size=200),
    st.just(()),
    st.booleans(),
)


@given(st.lists(messages, max_size=12).map(tuple), st.integers(0, 600))
def test_the_cut_can_be_done_again_from_its_number_alone(asked, limit):
    kept, trimmed = fit(asked, limit)
    assert cut(asked, trimmed) == kept
    assert len(kept) == len(asked) - trimmed
    assert fit(asked, limit) == (kept, trimmed)
    if asked:
        assert kept[-1] is asked[-1]


def test_what_was_too_long_after_all_gets_shorter_until_nothing_can_go():
    asked = prompt(8)
    sent, sizes = asked, []
    while (less := shorter(asked, sent)) is not None:
        sent, _ = less
        sizes.append(len(sent))
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 2


def test_a_map_full_of_spaces_counts_little():
    assert count_text("." + " " * 80 + "@") <= 3
    assert count_text("a word or two of English, as usual") in range(9, 14)


@given(st.lists(st.tuples(st.text(), st.integers(0, 3)), max_size=8))
def test_no_count_exceeds_what_is_taken_for_the_most(turns):
    messages = [Message("user", text, (b"",) * images) for text, images in turns]
    assert count_messages(messages) <= most_tokens(messages)
