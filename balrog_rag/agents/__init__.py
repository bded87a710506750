"""Language agents: what each asks the model and how it parses the answer, and wrappers for any of them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from balrog_rag.agents import own_class
from balrog_rag.agents.program_agent import ProgramAgent
from balrog_rag.config import own_files
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.behaviour import LLM, Agent, Knowledge
from balrog_rag.contracts.data import GameSpec, ProgramPlayer, TaskView
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.programs import plays, program_of
from balrog_rag.util.wording import joined_names


def build(
    config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge, seed: int = 0, since: int = 0
) -> Agent:
    """Build the configured agent inside the wrappers that its configuration enables.

    A program takes over at step `since`, seeded with `seed`; other agents ignore both.
    """
    if plays(config.name):
        refuse_wrapped_program(config)
        return ProgramAgent(ProgramPlayer(config.name, config.options, seed, since))
    agent: Agent = registry.agents.get(config.name)(config, view, llm, knowledge)
    wanted = wrappers(config)
    if wanted and not all(hasattr(agent, name) for name in ("ask", "answer", "read", "style", "prompts")):
        raise ConfigError(
            f"{switch(wanted[0], config)}: agent {config.name!r} cannot be wrapped, because it has no ask, "
            "answer and read; switch this off, or derive the agent from balrog_rag.agents.base.BaseAgent"
        )
    return _wrapped(agent, config, llm, knowledge) if wanted else agent


def wrappers(config: AgentConfig) -> list[str]:
    """Return the sections of the configuration that enable a wrapper, from the innermost outwards."""
    switches = {
        "loops": config.loops.enabled,
        "notebook": config.notebook.enabled,
        "retrieval": config.retrieval.enabled,
        # Several tool calls in one answer are a list, even where one is asked for.
        "batch": config.batch.size > 1 or config.answers == "tools",
    }
    # Some agents carry a setting out themselves.
    agent = None if plays(config.name) else registry.agents.get(config.name)
    own: Collection[str] = getattr(agent, "handles", ())
    return [name for name, on in switches.items() if on and name not in own]


def switch(wrapper: str, config: AgentConfig) -> str:
    """Return the key that enables a wrapper, for messages."""
    by_tools = wrapper == "batch" and config.batch.size == 1
    return "agent.answers=tools" if by_tools else f"agent.{wrapper}"


def refuse_wrapped_program(config: AgentConfig) -> None:
    """Refuse settings that would wrap a program."""
    if plays(config.name) and (wanted := wrappers(config)):
        key = switch(wanted[0], config)
        raise ConfigError(f"{key}: {config.name} is a program, so no wrapper fits; switch this off")


def resolve(config: AgentConfig) -> AgentConfig:
    """Complete the configuration with the content of the files it names, for an episode's spec."""
    from balrog_rag.agents.demonstration_files import content_digest, load
    from balrog_rag.agents.prompts import Prompts

    Prompts(config.prompts).check(own_prompts(config))
    refuse_wrapped_program(config)
    if plays(config.name):
        config = replace(config, options=dict(program_of(config.name).settle(config.options)))
    elif runs_own_file(config.name):
        config = replace(config, options=own_class.settled(config.options))
    elif (settle := getattr(registry.agents.get(config.name), "settle", None)) is not None:
        config = replace(config, options=settle(config.options))
    if (check := getattr(_player(config.name), "check_settings", None)) is not None:
        check(config)
    refuse_placeless(config)
    refuse_changing(config)
    if config.name == "few_shot" and not config.demonstrations:
        raise ConfigError(
            "agent.demonstrations: few_shot needs demonstrations; make a file with `balrog-rag prompts "
            "demonstrate` and set agent.demonstrations=[FILE]"
        )
    if not config.demonstrations or config.demonstrations_digest is not None:
        return config
    load(config.demonstrations, None)  # refuses a file without a demonstration before anything is written
    return replace(config, demonstrations_digest=content_digest(config.demonstrations))


def refuse_placeless(config: AgentConfig) -> None:
    """Refuse a custom instruction without a place for the text that `system` adds to it."""
    from balrog_rag.agents.prompts import Prompts, of_kind, wants

    games = registry.environments.names()
    needed = {"balrog": (), "improved": ("advice",), "paper": ("advice", "warning")}[config.system]
    for name, text in config.prompts.items():
        kind, _, game = name.partition("_")
        for part in needed if kind == "instruction" and game in games else ():
            prompts = Prompts(config.prompts, own=of_kind(kind_of(game)))
            if prompts.has(f"{part}_{game}") and part not in wants(text):
                raise ConfigError(
                    f"agent.system={config.system}: agent.prompts.{name} has no place for its text; add "
                    f"{{{{ {part} }}}} to the prompt, or use agent.system=balrog"
                )


def refuse_changing(config: AgentConfig) -> None:
    """Refuse settings that change messages which an append-only history has already sent."""
    if config.history.window != "append" or plays(config.name):
        return
    window = "agent.history.window=append"
    if not getattr(_player(config.name), "append_only", False):
        raise ConfigError(
            f"{window}: agent {config.name!r} has no append-only history; use agent=naive_append or "
            "agent=cot_append, or derive the agent from balrog_rag.agents.base.BaseAgent"
        )
    if config.retrieval.enabled and config.retrieval.place == "system":
        raise ConfigError(
            f"agent.retrieval.place=system: changes the instruction, which {window} keeps as it was sent; "
            "use before or after"
        )
    if config.observation.past_maps != "all":
        raise ConfigError(
            f"agent.observation.past_maps={config.observation.past_maps}: changes past observations, which "
            f"{window} keeps as they were sent; use all"
        )


OF_GAMES = ("instruction", "advice", "warning", "netplay_context", "netplay_guide")
"""Prompts that an environment may define for itself."""


def own_prompts(config: AgentConfig) -> list[str]:
    """Return the prompts that may exist without a file here: the agent's and the environments'."""
    of_agent: Iterable[str] = getattr(_player(config.name), "own_prompts", ())
    if runs_own_file(config.name):
        of_agent = own_files.own_prompts(Path(str(config.options.get("path"))))
    games = registry.environments.names()
    return [*of_agent, *(f"{kind}_{game}" for kind in OF_GAMES for game in games)]


def _player(name: str) -> Any:
    return (registry.programs if plays(name) else registry.agents).get(name)


def programs_of(name: str) -> tuple[str, ...]:
    """Return the programs that the games of this agent offer, whatever env.programs says."""
    return () if plays(name) else tuple(getattr(_player(name), "programs", ()))


def refusal(name: str, game: GameSpec) -> str:
    """Return why this player cannot play the game; "" if it can. Checked before anything is started."""
    if plays(name):
        games = program_of(name).games
        fits = not games or game.env in games
        return "" if fits else f"agent={name}: plays {joined_names(games)} only, not {game.env}"
    refuses: Callable[[GameSpec], str] | None = getattr(_player(name), "refuses", None)
    why = refuses(game) if refuses is not None else ""
    return why and f"agent={name}: {why}"


def runs_own_file(name: str) -> bool:
    """Whether the agent is a class in a file that its options name, so that making it runs that file."""
    return not plays(name) and bool(getattr(registry.agents.get(name), "foreign", False))


def runs_outside_code(config: AgentConfig) -> bool:
    """Whether the player is code in a file or a folder that agent.options name."""
    return program_of(config.name).foreign if plays(config.name) else runs_own_file(config.name)


class Needs(NamedTuple):
    """The services that an agent uses."""

    model: bool
    knowledge: bool


def needs(config: AgentConfig) -> Needs:
    """Return the services that such an agent ever uses: programs, for example, ask no model."""
    wrapped = bool(wrappers(config))
    if plays(config.name):
        return Needs(model=False, knowledge=config.retrieval.enabled)
    agent = registry.agents.get(config.name)
    asks: bool | Callable[[AgentConfig], bool] = getattr(agent, "asks_model", True)
    looks_up: Callable[[AgentConfig], bool] | None = getattr(agent, "looks_up", None)
    return Needs(
        model=wrapped or (asks(config) if callable(asks) else asks),
        knowledge=config.retrieval.enabled or (looks_up is not None and looks_up(config)),
    )


def asks_model(config: AgentConfig) -> bool:
    """Whether a model is ever asked: not by programs, nor by agents that declare `asks_model = False`."""
    return needs(config).model


def retrieves(config: AgentConfig) -> bool:
    """Whether such an agent ever searches the knowledge base."""
    return needs(config).knowledge


def passages_named(config: AgentConfig) -> Mapping[str, Sequence[str]]:
    """Return the ids of passages that an agent's options name, by what they are for; none for most agents."""
    if plays(config.name):
        return {}
    named: Callable[[Mapping[str, Any]], Mapping[str, Sequence[str]]] | None = getattr(
        registry.agents.get(config.name), "passages_named", None
    )
    return {} if named is None else named(config.options)


def _wrapped(agent: Agent, config: AgentConfig, llm: LLM, knowledge: Knowledge) -> Agent:
    from balrog_rag.agents.base import Wrappable
    from balrog_rag.agents.batch import Batch
    from balrog_rag.agents.loops import Loops
    from balrog_rag.agents.notebook import Notebook
    from balrog_rag.agents.retrieval import Retrieval

    player = cast(Wrappable, agent)
    for name in wrappers(config):
        match name:
            case "loops":
                player = Loops(player, config.loops)
            case "notebook":
                player = Notebook(player, config.notebook)
            case "retrieval":
                player = Retrieval(player, config.retrieval, llm, knowledge)
            case "batch":
                player = Batch(player, config.batch, config.lenient)
    return player
