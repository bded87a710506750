"""Explain errors in overrides in one line that says what to write instead."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any
from unicodedata import category

from balrog_rag.config import schema
from balrog_rag.config.groups import group_options
from balrog_rag.config.short_forms import in_full, in_mapping, type_of
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import names_of
from balrog_rag.contracts.registry import nearest
from balrog_rag.util.terminal_safe import one_line


def refuse_mistakes(words: Sequence[str]) -> None:
    """Reject overrides with unknown names, and those that Hydra would read differently than intended."""
    groups = group_options()
    for word in words:
        if any(category(sign) == "Cs" for sign in word):  # undecodable bytes from the shell
            raise ConfigError(f"{one_line(word)}: not UTF-8; write it in UTF-8")
        if problem := _wrong_word(word, groups):
            raise ConfigError(problem)


def _list_of_options(word: str, group: str, value: str) -> str:
    """Reject a list of options: Hydra would merge them, so that only the last one plays."""
    options = [option.strip() for option in value.strip(" []").split(",")]
    if len(options) == 1:
        return f"{word}: not a list; write {group}={options[0]}"
    return f"{word}: takes one {group}; to play each, use -m {group}={','.join(options)}"


class one_line_errors:
    """Turns errors of Hydra and OmegaConf into a one-line ConfigError with the nearest names."""

    def __init__(self, overrides: list[str]) -> None:
        self.overrides = overrides

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        from hydra.errors import HydraException
        from omegaconf.errors import OmegaConfBaseException
        from yaml import YAMLError

        if isinstance(error, HydraException | OmegaConfBaseException):
            raise ConfigError(explain(error, self.overrides)) from error
        if isinstance(error, YAMLError):
            raise ConfigError(f"not YAML: {' '.join(str(error).split())}") from error


SEVERAL = re.compile(r"(?:Ambiguous value for argument|Sweep parameters) '(.+?)'(?= 1\.| requires)")


def explain(error: BaseException, overrides: list[str]) -> str:
    """Describe an error in one line, for the user who typed the overrides."""
    from hydra.errors import OverrideParseException

    text = " ".join(_chain_text(error).split())
    if found := SEVERAL.search(text):
        return _several(found.group(1).lstrip("+").replace("env.options.", "env.", 1))
    if isinstance(error, OverrideParseException):
        word = str(error.override).lstrip("+")
        return f"{word}: cannot be parsed; close the bracket or quote, or put the value in quotes"
    if found := re.search(r"In '([^']+)': Could not load '([^']+)'", text):
        group, _, name = found[2].partition("/")
        known = group_options().get(group, [])
        return f"{found[1]}.yaml: its defaults name {name}: no such {group}{nearest(name, known)}"
    if found := re.search(r"Could not find '([^']+)'", text):
        return _unknown_option(*found.group(1).split("/", 1))
    if found := re.search(r"(?:full_key|Full key): (\S+)", text):
        reason = re.split(r"\s(?:full_key|Full key): ", text)[0]
        return _wrong_value(found.group(1), _tidy(reason), overrides)
    return _tidy(text)


def _chain_text(error: BaseException) -> str:
    """The message, joined with its cause if Hydra hides the reason there."""
    cause = error.__cause__ or error.__context__
    return f"{error}" if cause is None else f"{cause}" if "full_key" in str(cause) else f"{error} {cause}"


NOISE = re.compile(
    r"\s*object_type=\S+|\s*reference_type=\S+|Set the environment variable.*|See https://hydra.*"
)


def _tidy(text: str) -> str:
    return NOISE.sub("", text).strip()


WANTED = {"to Integer": "a whole number", "to Float": "a number", "a valid bool": "true or false"}
"""Part of OmegaConf's message, and what the value must be."""


def _wrong_value(key: str, reason: str, overrides: Sequence[str]) -> str:
    """Describe a value of the wrong type; for a list, show how to write one."""
    given = [word.partition("=")[2] for word in overrides if word.lstrip("+").startswith(f"{key}=")]
    value = given[-1] if given else "..."
    if "is not a ListConfig" in reason:
        return f"{key}: expected a list; write {key}=[{value}]"
    if in_mapping(key) and "to Dict" in reason:
        return f"{key}: expected a mapping; write {key}.NAME={value}"
    below = [name for name, _ in schema.documented_keys() if name.startswith(f"{key}.")]
    if below:
        return f"{key}: a section, not a key; write e.g. {below[0]}=VALUE, or see --help"
    wanted = next((f"must be {wanted}" for sign, wanted in WANTED.items() if sign in reason), reason)
    if not given and (found := re.match("Value '([^']*)' of type", reason)):  # in a preset
        given, value = [found[1]], found[1]
    return f"{key}={value}: {wanted}" if given and wanted != reason else f"{key}: {wanted}"


def _several(word: str) -> str:
    """Describe `key=a,b` outside a sweep."""
    key, _, value = word.partition("=")
    sweep = f"to play each, use -m {word}"
    if str(type_of(key)).startswith("list"):
        return f"{word}: expected a list; write {key}=[{value}], or, {sweep}"
    quoted = "" if key in group_options() or "(" in value else f"; a value with commas: \"{key}='{value}'\""
    return f"{word}: expected one value; {sweep}{quoted}"


def _wrong_word(word: str, groups: Mapping[str, Sequence[str]]) -> str:
    """Describe an override of an unknown key, and what to write instead; empty if the key exists."""
    name, equals, value = word.lstrip("+~").partition("=")
    name = name.partition("@")[0]
    if not equals and not word.startswith("~"):
        return _no_value(word, groups)
    if not name.strip():
        return f"{word}: key missing; write KEY=VALUE without spaces around ="
    if name != name.strip():
        return f"{word}: spaces around =; write {name.strip()}={value.strip()}"
    if name in groups:
        return _wrong_option(word, name, value, groups[name])
    if name.startswith("hydra"):
        return ""
    keys, full = [key for key, _ in schema.documented_keys()], in_full(name)
    if full.startswith("env.options.") and (meant := _key_of_env(name, keys)):
        return f"{name}: no such key; did you mean {meant}?"
    if full in keys or in_mapping(full) or any(key.startswith(f"{full}.") for key in keys):
        return ""
    return f"{name}: no such key{_meant(name, [*keys, *groups])}"


def _no_value(word: str, groups: Mapping[str, Sequence[str]]) -> str:
    """Describe a bare word: an option without its group, or a key without its value."""
    meant = [f"{group}={word}" for group, options in groups.items() if word in options]
    name, colon, value = word.partition(":")
    if colon and name in groups:
        meant = [f"{name}={value}"]
    if meant:
        return f"{word}: not KEY=VALUE; write {' or '.join(meant)}"
    return f"{word}: not KEY=VALUE; write {word}=VALUE, without spaces around =, or see --help"


def _wrong_option(word: str, group: str, value: str, options: Sequence[str]) -> str:
    if not value and not word.startswith("~"):
        return f"{word}: {group} missing; write {group}=VALUE without spaces around ="
    if value.strip().startswith("["):
        return _list_of_options(word, group, value)
    single = re.fullmatch(r"[\w./:-]+", value)
    return _unknown_option(group, value) if single and value not in (*options, "null") else ""


def _meant(name: str, names: Sequence[str]) -> str:
    """Suggest what an unknown key may mean: a game's option, or a key with a similar name."""
    last = name.rpartition(".")[2]
    if (name == last or name.startswith("env.")) and (kinds := _with_option(last)):
        return f"; write env.{last}=VALUE, or env.options.{kinds[0]}.{last}=VALUE for one kind of game only"
    return nearest(name, names, "--help lists them")


def _key_of_env(name: str, keys: Sequence[str]) -> str:
    """Return the key of env that is misspelt; empty if a kind of game has an option of that name."""
    close = get_close_matches(name, [key for key in keys if key.startswith("env.")], n=1, cutoff=0.85)
    return close[0] if close and not _with_option(name.rpartition(".")[2]) else ""


def _with_option(name: str) -> list[str]:
    """The kinds of game that have an option of this name."""
    kinds = map(kind_of, registry.environments.names())
    return [kind.name for kind in kinds if name in names_of(kind)]


def _unknown_option(group: str, option: str = "") -> str:
    names = group_options().get(group, [])
    if group == "model" and option:
        return _unknown_model(option, names)
    if group == "agent" and option.endswith(".py"):
        return f"agent={option}: name a class or function of the file; write agent={option}:NAME"
    if group == "env" and "/" in option:
        return f"env={option}: a task, not a preset; write env.tasks=[{option}]"
    if group == "env" and registry.environments.has(option):
        task = next(iter(kind_of(option).tasks()), "TASK")
        return f"env={option}: a kind of game without a preset; name its tasks: env.tasks=[{option}/{task}]"
    return f"{group}={option}: no such {group}{nearest(option, names)}"


PROVIDERS = {
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4"),
    "anthropic": ("claude",),
    "gemini": ("gemini", "gemma"),
    "deepseek": ("deepseek-",),
    "xai": ("grok",),
}
"""Prefixes of the names of well-known models."""


def _unknown_model(option: str, names: list[str]) -> str:
    """Describe an unknown model=; often it is a model's name where its provider is expected."""
    provider = option.partition("/")[0]
    if provider not in names:
        known = (name for name, begins in PROVIDERS.items() if option.startswith(begins))
        provider = next(known, "")
    if provider:
        return f"model={option}: model= takes the provider; write model={provider} model.name={option}"
    own = "; set the model's own name with model.name=" if re.search("[/:.0-9]", option) else ""
    return f"model={option}: no such model{nearest(option, names)}{own}"
