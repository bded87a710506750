"""`balrog-rag knowledge questions FILE...`: does a passage change a model's answer to a yes/no question?"""

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.contracts.errors import ConfigError

if TYPE_CHECKING:
    from balrog_rag.studies.yes_no_questions import QuestionScores

_ALLOWED = ("knowledge=", "knowledge.", "model.")


def questions(options: Namespace) -> int:
    """Ask every question, and print the results."""
    from balrog_rag import models
    from balrog_rag.config.compose import compose
    from balrog_rag.knowledge.opening import open_searcher
    from balrog_rag.knowledge.progress import shown_progress
    from balrog_rag.studies import endings
    from balrog_rag.studies import yes_no_questions as study

    settings = [str(word) for word in options.files if "=" in str(word) and not word.exists()]
    files = [path for path in options.files if str(path) not in settings]
    for word in (*settings, *options.settings):
        if not word.startswith(_ALLOWED):
            raise ConfigError(f"{word}: not understood; settings are model.KEY= and knowledge.KEY=")
    config = compose([f"model={options.model}", *settings, *options.settings])
    games = [endings.seen(game) for path in files for game in endings.read_games(path, options.env)]
    asked = study.questions_of(games)
    if not asked:
        raise ConfigError("questions: no game asks a yes/no question that its rules decide; pass other files")
    found = endings.RecordedSearches(open_searcher(config.knowledge, remember=True))

    async def ask() -> "QuestionScores":
        model = models.build(config.model)
        try:
            with shown_progress("asking", len(asked) * len(study.ARMS)) as done:
                return study.scored(model.name, await study.ask_all(asked, model, found, done))
        finally:
            await model.close()

    made = asyncio.run(ask())
    if options.json:
        print(msgspec.json.encode(made).decode())
    else:
        _print(made)
    return 0


def _print(made: "QuestionScores") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("passage", "right", "95 % CI", "answered y", title=f"{made.model}, yes/no questions")
    for arm in made.arms:
        interval = f"{arm.low:.0%} to {arm.high:.0%}"
        table.add_row(arm.arm, f"{arm.right} of {arm.questions}", interval, str(arm.yes))
    Console().print(table)
    print(
        f"Its own passage instead of another's mends {made.better} answers and spoils {made.worse} "
        f"(sign test, p = {made.p:.3f})."
    )
