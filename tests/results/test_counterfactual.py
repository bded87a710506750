"""Did retrieval change the action? Asked for a real run, whose model answers by the prompt alone."""

import msgspec
import pytest

from balrog_rag.cli.counterfactual import main
from balrog_rag.cli.episode import main as show
from balrog_rag.cli.knowledge import main as knowledge
from balrog_rag.results.asked_again import AskedAgain, Counterfactual, keep, kept
from tests.support import evaluate


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run with retrieval from a small folder of text, and one without."""
    top = tmp_path_factory.mktemp("asked")
    (top / "wiki").mkdir()
    for name in ("newt", "jackal", "stairs"):
        (top / "wiki" / f"{name}.md").write_text(f"# {name}\n\nWhat there is to know about every {name}.\n")
    keeping = ["agent.retrieval.when=novelty", "agent.retrieval.keep=5"]
    for name, agent, more in (
        ("naive", "naive", []), ("naive_rag", "naive_rag", []), ("keeping", "naive_rag", keeping)
    ):  # fmt: skip
        words = [
            f"agent={agent}", *more, f"run.folder={top}", f"run.name={name}",
            "env.episodes=2", "limits.steps=6", "env=corridor",
            f"knowledge.corpus={top / 'wiki'}", "knowledge.index=bm25",
        ]  # fmt: skip
        done = evaluate(*words, cwd=top)
        assert done.returncode == 0, done.stderr
    return top


def test_a_sample_of_steps_is_asked_again_with_and_without(runs, capsys):
    assert main([str(runs / "naive_rag"), "--sample", "5"]) == 0
    found = kept(runs / "naive_rag")
    assert len(found.asked) == 5
    # the scripted model's answer follows from the prompt: the same prompt, the same answer
    assert all(one.again == one.action for one in found.asked)
    assert any(one.without != one.action for one in found.asked)
    sentence, *steps, look = capsys.readouterr().out.splitlines()
    assert sentence == found.sentence
    differing = [one for one in found.asked if one.without != one.action]
    assert [line.split(":")[0] for line in steps] == [f"{one.episode} step {one.step}" for one in differing]
    assert f"without reference text {differing[0].without}" in steps[0]
    assert show(look.partition("balrog-rag ")[2].split()) == 0
    assert f"step {differing[0].step}: {differing[0].action} " in capsys.readouterr().out
    assert main([str(runs / "naive_rag"), "--sample", "5", "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=Counterfactual) == found


@pytest.mark.slow
def test_where_reference_text_stayed_it_stands_in_the_second_question_too(runs):
    assert main([str(runs / "keeping"), "--sample", "20"]) == 0
    asked = kept(runs / "keeping").asked
    assert [one.step for one in asked] == [
        0,
        1,
        2,
        3,
        4,
        5,
    ] * 2  # looked up or kept
    assert all(one.again == one.action for one in asked)
    assert any(one.without != one.action for one in asked if one.step)


def test_a_run_without_retrieval_has_nothing_to_ask(runs, capsys):
    assert main([str(runs / "naive")]) == 2
    assert "no prompt contained reference text" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["0", "-3"])
def test_an_empty_sample_is_a_mistake(runs, capsys, count):
    assert main([str(runs / "naive_rag"), "--sample", count]) == 2
    assert capsys.readouterr().err == f"error: --sample {count}: must be 1 or more\n"


def test_the_sentence_counts_both():
    asked = tuple(AskedAgain("e", n, "a", "b" if n < 3 else "a", "a") for n in range(4))
    assert Counterfactual(asked).sentence == (
        "without reference text the action differs at 3 of 4 steps (75 %, 29 to 97); "
        "asked again with it, it differs at 0 of 4 steps (0 %, 0 to 45)."
    )


def test_a_gate_is_fitted_to_what_was_asked_again(runs, capsys):
    assert main([str(runs / "naive_rag"), "--sample", "12"]) == 0
    asked = kept(runs / "naive_rag").asked
    capsys.readouterr()
    assert knowledge(["gate", "fit", str(runs / "naive_rag")]) != 0
    assert "12 steps were asked again, and a gate needs 20" in capsys.readouterr().err
    keep(runs / "naive_rag", Counterfactual(asked * 2))
    assert knowledge(["gate", "fit", str(runs / "naive_rag"), "--json"]) == 0
    made = msgspec.json.decode(capsys.readouterr().out)
    changed = 2 * sum(one.without != one.action == one.again for one in asked)
    assert (made["steps"], made["changed"]) == (24, changed)
    assert knowledge(["gate", "fit", str(runs / "naive_rag")]) == 0
    assert "agent.retrieval.when=adaptive agent.retrieval.gate={bias:" in capsys.readouterr().out


def test_a_gate_knows_what_reference_text_took(runs, capsys):
    assert main([str(runs / "naive_rag"), "--sample", "12"]) == 0
    asked = kept(runs / "naive_rag").asked
    # queries, summaries and the text itself: more than the step without them, and priced at nothing
    assert all(one.more.tokens > 0 and one.more.dollars == 0 for one in asked)
    mean = round(sum(one.more.tokens for one in asked) / 12)
    keep(runs / "naive_rag", Counterfactual(asked * 2))
    fitted = {}
    for worth in (None, mean, 1000 * mean):
        words = [] if worth is None else ["--worth", str(worth)]
        assert not capsys.readouterr().err
        assert knowledge(["gate", "fit", str(runs / "naive_rag"), "--json", *words]) == 0
        fitted[worth] = msgspec.json.decode(capsys.readouterr().out.splitlines()[-1])
    assert {worth: made["enough"] for worth, made in fitted.items()} == {
        None: 0.5,
        mean: 1.0,
        1000 * mean: 0.001,
    }
    assert {made["cost"]["tokens"] for made in fitted.values()} == {mean}
    assert fitted[mean]["opened"] == 0
    assert fitted[1000 * mean]["opened"] == fitted[1000 * mean]["steps"] == 24
    assert knowledge(["gate", "fit", str(runs / "naive_rag")]) == 0
    told = capsys.readouterr().out
    assert f"with it a step took {mean} tokens, 0 dollars" in told
    assert f",worth:{2 * mean:.4g}}}" in told
    assert knowledge(["gate", "fit", str(runs / "naive_rag"), "--worth", "0"]) == 2
    assert "--worth 0: must be greater than 0 (tokens)" in capsys.readouterr().err


@pytest.mark.slow
def test_a_record_without_costs_still_makes_a_gate(runs, capsys):
    assert b"more" not in msgspec.json.encode(AskedAgain("nle-1", 0, "a", "b", "a"))
    assert main([str(runs / "naive_rag"), "--sample", "12"]) == 0
    old = [msgspec.structs.replace(one, more=None) for one in kept(runs / "naive_rag").asked]
    keep(runs / "naive_rag", Counterfactual(tuple(old * 2)))
    capsys.readouterr()
    assert knowledge(["gate", "fit", str(runs / "naive_rag")]) == 0
    told = capsys.readouterr().out
    assert "the record lacks the cost of look-ups" in told
    assert "worth" not in told.splitlines()[-1]
    alike = [msgspec.structs.replace(one, without=one.action) for one in old]
    keep(runs / "naive_rag", Counterfactual(tuple(alike + old)))
    assert knowledge(["gate", "fit", str(runs / "naive_rag")]) == 0
    assert "all these steps are alike" not in capsys.readouterr().out
    keep(runs / "naive_rag", Counterfactual(tuple(alike * 2)))
    assert knowledge(["gate", "fit", str(runs / "naive_rag")]) == 0
    assert "so the gate learned nothing" in capsys.readouterr().out
