"""The headline of an experiment of two by two arms: its interaction, and the effects behind it."""

import pytest

from balrog_rag.config.frozen import config_digest
from balrog_rag.results.arms import load_arms
from balrog_rag.results.experiments import find
from balrog_rag.results.report.contrast_section import LEFT_OUT, contrasts_section
from balrog_rag.results.report.document import plain_cell
from balrog_rag.results.run_folder import frozen_config, write_json

LEVELS = {"original": 5, "original_retrieval": 5, "renamed": 1, "renamed_retrieval": 4}


@pytest.fixture
def arms(new_run):
    """Four arms in which retrieval helps in the renamed world alone."""

    def made(experiment="remembered", games=8, levels=LEVELS, open_arm=""):
        folders, top = [], f"{experiment or 'none'}-{games}-{open_arm}"
        for name, level in levels.items():
            run = new_run(f"{top}/{name}", agent=name)
            config = dict(frozen_config(run.path).config) | {"run": {"experiment": experiment}}
            run.digest = config_digest(config)
            write_json(run.path / "config.json", {"digest": run.digest, "config": config})
            for number in range(games):
                run.nethack(number, [{"experience_level": level + number % 2}])
            if name == open_arm:
                path = run.journal(run.nethack(50, [{}]))
                path.write_bytes(path.read_bytes()[:-9])
            folders.append(run.path)
        return load_arms(folders)

    return made


def test_the_interaction_is_the_headline_with_the_effects_behind_it(arms):
    section = contrasts_section(arms())
    assert [box.about.partition(" (")[0] for box in section.boxes] == ["interaction", "remembered", "read"]
    assert section.sentences == [find("remembered").question]
    headline = section.boxes[0]
    assert headline.word.startswith("higher")
    assert "n = 8 games played by all these arms" in headline.sentence
    (table,) = section.tables
    assert [row[0] for row in table.rows] == [
        "renamed_retrieval minus renamed",
        "original_retrieval minus original",
    ]
    gains = [float(plain_cell(row[3]).split()[0]) for row in table.rows]
    assert gains[0] > gains[1] == 0
    assert float(headline.sentence.split(": ")[1].split()[0]) == pytest.approx(gains[0] - gains[1])


def test_few_games_are_called_too_few_and_open_arms_are_left_out(arms):
    alike = dict.fromkeys(LEVELS, 2)
    assert {box.word for box in contrasts_section(arms(games=2, levels=alike)).boxes} == {"undecided"}
    partial = contrasts_section(arms(open_arm="original_retrieval"))
    assert [box.about.partition(" (")[0] for box in partial.boxes] == ["remembered", "read"]
    assert partial.sentences[-1] == LEFT_OUT


def test_other_experiments_have_no_such_section(arms):
    assert contrasts_section(arms("ladder")).empty
    assert contrasts_section(arms("")).empty


def test_skills_and_knowledge_has_interactions_of_its_arms():
    described = find("skills_and_knowledge")
    assert [*described.contrasts] == ["interaction", "interaction_plan"]
    assert described.contrasts["interaction"].plus == ("skills_retrieval", "keys")
