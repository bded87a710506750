"""Play `+experiment=skills_and_knowledge` with models that need no key; print what each adds to the floors.

    python benchmarks/floors.py scripted --out FOLDER [OVERRIDE ...]   every arm, the floors included
    python benchmarks/floors.py rule --out FOLDER [OVERRIDE ...]       every arm that asks a model
    python benchmarks/floors.py local --out FOLDER [OVERRIDE ...]      the same with the embedded model
    python benchmarks/floors.py show --out FOLDER

`scripted` answers at random in the asked format; `rule` is examples/rule_model.py behind a server on
loopback, which knows the skills of `plan` only. Overrides, such as env.episodes=8 limits.steps=40
knowledge.index=bm25, must be equal. A sweep that was stopped is resumed by the same command.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from balrog_rag.cli.verbs import main as balrog_rag
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.results.arms import load_arms
from balrog_rag.results.report.document import ReportPage
from balrog_rag.results.report.floors import floors_section
from balrog_rag.results.report.markdown import markdown
from balrog_rag.util.loop_thread import LoopThread
from examples.rule_model import choose

EXPERIMENT = "skills_and_knowledge"
AGENTS = ("robust_cot", "robust_rag", "netplay", "code")
ARGUMENTS = {"dive": "level", "play_on": "turns"}


def answer(texts: tuple[str, ...]) -> str:
    """Answer as the rule does, in the format that the prompt asks for."""
    if '"thoughts"' in texts[-1]:  # netplay: what the last skill did is a message of its own
        name, *given = choose(("\n".join(texts[-2:]),)).split()
        skill = {"name": name, **({ARGUMENTS[name]: int(given[0])} if given else {})}
        thoughts = dict.fromkeys(("observations", "reasoning", "speak"), "")
        return json.dumps({"thoughts": thoughts, "skill": skill})
    if "```python" in texts[-1]:  # what the skill reported is what the code printed
        name, *given = choose((texts[-1].replace("stopped: done; it printed:\n", "stopped: "),)).split()
        arguments = ", ".join(each if each.isdigit() else repr(each) for each in given)
        return f"```python\nprint({name}({arguments}))\n```"
    return f"<|ACTION|>{choose(texts)}<|END|>"


def play(name: str, folder: Path, words: Sequence[str]) -> None:
    """Play one sweep, or the rest of it."""
    if (folder / name).is_dir():
        server = [word for word in words if word.startswith("model.base_url=")]
        chosen = [f"resume={folder / name}", *server]
    else:
        where = [f"run.folder={folder}", f"run.name={name}", "env=nethack"]
        chosen = [f"+experiment={EXPERIMENT}", *where, *words]
    assert balrog_rag(["run", *chosen, "runner.log=none"]) == 0


def play_rule(folder: Path, words: Sequence[str]) -> None:
    """Play against the rule behind a server."""
    server, loop = TestServer(answer=answer), LoopThread("server")
    loop.run(server.open())
    model = ["model=vllm", "model.name=rule", f"model.base_url={server.url}"]
    try:
        for agent in AGENTS:
            play(f"rule_{agent}", folder, [f"agent={agent}", *model, *words])
    finally:
        loop.run(server.close())
        loop.close()


def show(folder: Path) -> None:
    """Print the headline of each model, against the floors of the scripted sweep."""
    floors = [path for path in (folder / "scripted").iterdir() if path.name.endswith(("_random", "_rule"))]
    for model in ("scripted", "rule", "local"):
        played = [folder / "scripted"] if model == "scripted" else sorted(folder.glob(f"{model}_*"))
        if played:
            arms = load_arms([*floors, *played] if model != "scripted" else played)
            print(markdown(ReportPage(model, [floors_section(arms)]), {}))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("scripted", "rule", "local", "show"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("overrides", nargs="*")
    options = parser.parse_intermixed_args()
    if options.what == "show":
        show(options.out)
    elif options.what == "rule":
        play_rule(options.out, options.overrides)
    elif options.what == "scripted":
        play("scripted", options.out, ["model=scripted", *options.overrides])
    else:
        for agent in AGENTS:
            play(f"local_{agent}", options.out, [f"agent={agent}", "model=local", *options.overrides])


if __name__ == "__main__":
    main()
