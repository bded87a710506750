"""Runs whose decisions come from outside the harness: who is to play them, and how."""

import sys

from balrog_rag.cli.one_run import OneRun
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.plan import PlannedRun


class PersonsRun(OneRun):
    """The session of a run that a person plays, at the terminal or in a browser."""

    def __init__(self, run: PlannedRun, browser: tuple[int, bool] | None = None) -> None:
        """`browser`: the port, and whether to open the page; None: at the terminal."""
        super().__init__(run)
        self._browser = browser

    async def play(self) -> None:
        """Play until the games are over or the person leaves."""
        from balrog_rag.clients.client_run import ClientRun

        clients = ClientRun(self._run)
        if self._browser is not None:
            from balrog_rag.clients.browser_player import in_the_browser

            self._outcome = await in_the_browser(clients, *self._browser)
        else:
            from balrog_rag.clients.terminal_player import at_the_terminal

            self._outcome = await at_the_terminal(clients)


def session_of(run: PlannedRun) -> OneRun:
    """Return the session that plays a run."""
    refuse_absent_person(run.config)
    return PersonsRun(run) if run.config.model.backend == "client" else OneRun(run)


def refuse_absent_person(config: Config) -> None:
    """Refuse a client's run, and a person's run where nobody can type."""
    if config.model.backend != "client":
        return
    if config.agent.name != "human":
        raise ConfigError(f"agent={config.agent.name}: a client plays it; start it with `balrog-rag mcp`")
    from balrog_rag.clients.terminal_player import refuse_untypable

    refuse_untypable(sys.stdin)
