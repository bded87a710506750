"""Every error this package raises on purpose.

    BalrogError                 one clear line: what happened, where, what to do
    ├── ConfigError             a key, a value or a name in the configuration is wrong
    ├── PluginError             a plug-in cannot be loaded or violates its contract
    │   └── PlayerFailed        code of an agent or a bot raised while it played; its game has no score
    ├── RunFolderError          a run folder is missing, foreign, locked or not writable
    ├── JournalError            a journal is invalid: other version, damaged line, wrong order
    │   └── ReplayError         a replay produced another prompt or screen than the journal's
    ├── EnvironmentFailure      a game cannot be made or misbehaves
    │   └── WorkerLost          the process that ran the game died or hung: replay it elsewhere
    │       └── WorkerLostElsewhere  it died while playing another game
    ├── ModelError              a model call failed for good
    │   ├── ModelRefused        it will never succeed: key, name or request is wrong; the run stops
    │   │   └── ContextTooLong  the prompt is too long for this model
    │   └── ModelUnavailable    retried within its limits and still failing; resumable
    ├── KnowledgeError          a corpus or an index is missing, foreign or damaged
    └── DatasetError            recorded games are missing, foreign or damaged

Limits (steps, tokens, dollars, time) are outcomes of an episode, never errors: see `outcome`.
`LimitReached` below is therefore not a BalrogError: with it a handle asks the play loop to end normally.
"""


class BalrogError(Exception):
    """Base of all errors; `exit_code` is the exit code of a command that this error ends."""

    exit_code = 1


class ConfigError(BalrogError):
    """A key, a value or a name in the configuration is wrong; nothing was started or written."""

    exit_code = 2


class PluginError(BalrogError):
    """A plug-in cannot be loaded or violates its contract."""

    exit_code = 2

    def __init__(self, message: str, trace: str = "") -> None:
        """`trace` is the traceback if code of the plug-in raised."""
        super().__init__(message)
        self.trace = trace


class PlayerFailed(PluginError):
    """Code of an agent or a bot failed while it played; the episode can be resumed and has no score."""

    exit_code = 1

    def __init__(self, message: str, blame: str = "", trace: str = "") -> None:
        """`blame` is one line such as `mine.py:2 in act: KeyError: 'north'`, `trace` the traceback."""
        super().__init__(message, trace)
        self.blame = blame or message


class RunFolderError(BalrogError):
    """A run folder is missing, foreign, locked by another process, or not writable."""


class JournalError(BalrogError):
    """A journal is invalid; the message names the file and the line."""


class ReplayError(JournalError):
    """A replay produced another prompt, action or screen than the journal's; names the first such step."""


class EnvironmentFailure(BalrogError):
    """A game cannot be made, or failed in a way that would recur."""


class WorkerLost(EnvironmentFailure):
    """The process that ran the game died or hung; the episode is replayed in a new one."""


class WorkerLostElsewhere(WorkerLost):
    """The process died while playing another game."""


class ModelError(BalrogError):
    """A model call failed for good."""


class ModelRefused(ModelError):
    """The provider will never accept this call (key, model name, request): the run stops at once."""


class ContextTooLong(ModelRefused):
    """The prompt is too long for the model's context, so retrying cannot help."""


class ModelUnavailable(ModelError):
    """Every allowed attempt failed; the episode keeps its journal and can be resumed."""


class KnowledgeError(BalrogError):
    """A corpus or an index is missing, foreign or damaged; the message says what to run."""


class DatasetError(BalrogError):
    """Recorded games or their database are missing, foreign or damaged; the message names the file."""


class LimitReached(Exception):
    """A cap (tokens, dollars, wall time) was reached before a call was made; `limit` names it."""

    def __init__(self, limit: str, of_run: bool = False) -> None:
        super().__init__(limit)
        self.limit, self.of_run = limit, of_run
        """`of_run`: a cap of the whole run, not of the episode."""


class GivenUp(LimitReached):
    """The player gave the game up; it ends with the progression it had."""

    def __init__(self) -> None:
        super().__init__("given_up")
