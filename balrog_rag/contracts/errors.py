"""Every error this package raises on purpose.

    BalrogError                 one clear line: what happened, where, what to do
    ├── ConfigError             a key, a value or a name in the configuration is wrong
    ├── PluginError             a plug-in cannot be loaded or does not keep its contract
    │   └── PlayerFailed        code of an agent or a bot raised while it played; its game has no score
    ├── RunFolderError          a run folder is missing, foreign, locked or cannot be written
    ├── JournalError            a journal does not fit: other version, foreign line, bad order
    │   └── ReplayError         replay came to another prompt or screen than the journal says
    ├── EnvironmentFailure      a game cannot be made or misbehaves
    │   └── WorkerLost          the process that held the game died or hung: replay it elsewhere
    │       └── Bystander       it died of another game that it held
    ├── ModelError              a model call failed for good
    │   ├── ModelRefused        it will never succeed: key, name or request is wrong; the run stops
    │   │   └── ContextTooLong  the prompt does not fit this model
    │   └── ModelUnavailable    retried within its bounds and still failing; resumable
    ├── KnowledgeError          a corpus or an index is missing, foreign or broken
    └── DatasetError            recorded games are missing, foreign or broken

Limits (steps, tokens, dollars, time) are outcomes of an episode, never errors: see `episode.outcome`.
`LimitReached` below is therefore no BalrogError: it is how a handle tells the play loop to end well.
"""


class BalrogError(Exception):
    """Base of the tree; `exit_code` is what a command ends with when this reaches it."""

    exit_code = 1


class ConfigError(BalrogError):
    """A key, a value or a name in the configuration is wrong; nothing was started or written."""

    exit_code = 2


class PluginError(BalrogError):
    """A plug-in cannot be loaded or does not keep its contract."""

    exit_code = 2

    def __init__(self, message: str, trace: str = "") -> None:
        """`trace` is the traceback, where code of the plug-in raised."""
        super().__init__(message)
        self.trace = trace


class PlayerFailed(PluginError):
    """Code of an agent or a bot failed while it played; the episode stays as journaled, without a score."""

    exit_code = 1

    def __init__(self, message: str, blame: str = "", trace: str = "") -> None:
        """`blame` is one line such as `mine.py:2 in act: KeyError: 'north'`, `trace` the traceback."""
        super().__init__(message, trace)
        self.blame = blame or message


class RunFolderError(BalrogError):
    """A run folder is missing, foreign, locked by another process, or cannot be written."""


class JournalError(BalrogError):
    """A journal does not fit; the message names the file and the line."""


class ReplayError(JournalError):
    """Replay came to another prompt, action or screen than the journal says; names the first such step."""


class EnvironmentFailure(BalrogError):
    """A game cannot be made, or broke in a way that playing it again would repeat."""


class WorkerLost(EnvironmentFailure):
    """The process that held the game died or hung; the episode is replayed on a fresh one."""


class WorkerLostElsewhere(WorkerLost):
    """The process died while it was at work on another game."""


class ModelError(BalrogError):
    """A model call failed for good."""


class ModelRefused(ModelError):
    """The provider will never accept this call (key, model name, request): the run stops at once."""


class ContextTooLong(ModelRefused):
    """The prompt does not fit the model's context, however often it is sent."""


class ModelUnavailable(ModelError):
    """Every allowed attempt failed; the episode stays as journaled and can be resumed."""


class KnowledgeError(BalrogError):
    """A corpus or an index is missing, foreign or broken; the message says what to run."""


class DatasetError(BalrogError):
    """Recorded games or their database are missing, foreign or broken; the message names the file."""


class LimitReached(Exception):
    """A cap (tokens, dollars, wall time) was reached before a call was made; `limit` names it."""

    def __init__(self, limit: str, of_run: bool = False) -> None:
        super().__init__(limit)
        self.limit, self.of_run = limit, of_run
        """`of_run`: not the episode's own cap."""
