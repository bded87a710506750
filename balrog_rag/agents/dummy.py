"""BALROG's dummy: always the same action."""

from balrog_rag.contracts.programs import Begin, Program, ProgramKind


def play(begin: Begin) -> Program:
    """Press `options.action` forever; the environment's default if that is not an action."""
    view = begin.view
    wanted = str(begin.options.get("action", view.default_action))
    while True:
        yield wanted if wanted in view.accepted else view.default_action


DUMMY = ProgramKind(name="dummy", make=play, plays=True, unlisted_keys=False)
