"""`balrog-rag bank`: cut states out of recorded episodes, play variants from each, compare them in pairs."""

import argparse
import sys
from pathlib import Path

from balrog_rag.banks import BANKS
from balrog_rag.cli.command_line import Parser, called, ended, folder_to_write, within, without_command
from balrog_rag.util.terminal_safe import terminal_safe

SHOWN = 20
"""States that `bank show` lists by default."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: _carried_out(words))


def _carried_out(words: list[str]) -> int:
    made = parser()
    options, others = made.parse_known_args(words)
    if "carry_out" not in options:
        return without_command(made)
    options.overrides = others
    if options.carry_out is not play:
        refused = others
    else:
        refused = [word for word in others if "=" not in word]
    if refused:
        made.error(f"unrecognized argument: {refused[0]}")
    code: int = options.carry_out(options)
    return code


def parser() -> argparse.ArgumentParser:
    """Return the parser of all bank commands."""
    made = Parser(prog=called("bank"), description=__doc__)
    commands = made.add_subparsers(title="commands", metavar="COMMAND")
    _make(commands.add_parser("make", help="find the states at which a condition holds"))
    listing = commands.add_parser("list", help="list the banks")
    _banks(listing)
    listing.set_defaults(carry_out=lambda options: list_banks(options.banks))
    _show(commands.add_parser("show", help="list the states of a bank"))
    _play(commands.add_parser("play", help="play variants from every state"))
    _compare(commands.add_parser("compare", help="compare the variants in pairs"))
    publishing = commands.add_parser("publish", help="copy a bank together with its journals")
    publishing.add_argument("name", metavar="NAME", help="name of the bank")
    publishing.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="new folder")
    _banks(publishing)
    publishing.set_defaults(carry_out=publish)
    return made


def _banks(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--banks",
        type=Path,
        default=BANKS,
        metavar="DIR",
        help="folder of banks (default: %(default)s)",
    )


def _make(made: argparse.ArgumentParser) -> None:
    made.description = (
        "Replay journals and store each state at which EXPR holds as a reference: journal and number of "
        "key presses. EXPR is evaluated after every step, and after every key press of a program. It has the "
        "game's numbers (the columns of balrog_rag.steps), events (milestones reached, such as xp_2), step, "
        'health (0 to 1), numbers, + - * / // %, comparisons, and or not, shows("TEXT") (on the screen) and '
        'did("ACTION") (how often so far).'
    )
    made.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders, sweeps or journals")
    made.add_argument("--where", required=True, metavar="EXPR", help="e.g. 'depth >= 5 and hp * 3 < max_hp'")
    made.add_argument("--name", required=True, help="name of the bank")
    made.add_argument(
        "--every",
        type=int,
        default=0,
        metavar="N",
        help="take further states of an episode, at least N steps apart (default: only the first)",
    )
    _banks(made)
    made.set_defaults(carry_out=make)


def _show(made: argparse.ArgumentParser) -> None:
    made.add_argument("name", metavar="NAME", help="name of the bank")
    made.add_argument(
        "--states", type=int, default=SHOWN, metavar="N", help="states to list (default: %(default)s)"
    )
    made.add_argument("--check", action="store_true", help="replay to every state and compare it")
    _banks(made)
    made.set_defaults(carry_out=show)


def _play(made: argparse.ArgumentParser) -> None:
    made.description = (
        "Play each arm from every state of a bank. Arms are run folders in DIR/NAME/arms: show, verify, view "
        "and resume work as for any run. An arm that exists is resumed."
    )
    made.epilog = "followed by KEY=VALUE overrides for all arms, e.g. model=openai runner.workers=4"
    made.add_argument("name", metavar="NAME", help="name of the bank")
    made.add_argument("--arms", default="", metavar="AGENT,AGENT", help="arms by the names of their agents")
    made.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="NAME='OVERRIDE ...'",
        help="an arm with any overrides, e.g. --arm careful='agent=cot model=openai'; can be repeated",
    )
    made.add_argument(
        "--steps",
        type=int,
        metavar="N",
        help="play so far from each state: agent steps for agents that ask a model, the game's turns for "
        "programs (key presses where a game has no turns; default: to the end)",
    )
    _banks(made)
    made.set_defaults(carry_out=play)


def _compare(made: argparse.ArgumentParser) -> None:
    made.description = "Compare each arm with the first: every state is a pair."
    made.add_argument("name", metavar="NAME", help="name of the bank")
    made.add_argument("arms", nargs="*", metavar="ARM", help="arms, the baseline first (default: all)")
    made.add_argument(
        "--measure", default="", metavar="M", help="measure to compare (default: progression and survived)"
    )
    _banks(made)
    made.set_defaults(carry_out=compare)


def make(options: argparse.Namespace) -> int:
    """Search the journals and write the bank."""
    from balrog_rag.banks import stored_bank
    from balrog_rag.banks.expression import Expression
    from balrog_rag.banks.state_search import journals_in, made
    from balrog_rag.util.wording import many

    within("--every", options.every, 0)
    expression = Expression(options.where)
    folder = options.banks / stored_bank.checked_name("--name", options.name)
    folder_to_write("--banks", folder)
    stored_bank.refuse_taken(folder)
    found, problems = made(journals_in(options.runs), expression, options.every, folder)
    for problem in problems:
        print(terminal_safe(f"left out: {problem}"), file=sys.stderr)
    stored_bank.write(folder, found)
    count, episodes = many(len(found.states), "states"), len({state.journal for state in found.states})
    print(f"{folder}: {count} of {episodes} among {many(found.scanned, 'episodes')}")
    return 0


def list_banks(banks: Path) -> int:
    """Print one line for each bank."""
    from balrog_rag.banks.stored_bank import folders, read_folder

    found = [read_folder(folder) for folder in folders(banks)]
    if not found:
        print(f"{banks}: no banks; make one: balrog-rag bank make RUN --where EXPR --name NAME")
    for stored in found:
        print(terminal_safe(f"{stored.name:<24} {len(stored.bank.states):>7,} states  {stored.bank.where}"))
    return 0


def show(options: argparse.Namespace) -> int:
    """Print a bank's states; with --check, replay to each."""
    from balrog_rag.banks.state_checks import check
    from balrog_rag.banks.state_lines import lines
    from balrog_rag.banks.stored_bank import read

    within("--states", options.states, 0)
    stored = read(options.banks, options.name)
    print(terminal_safe("\n".join(lines(stored, options.states))))
    if not options.check:
        return 0
    wrong, count = check(stored), len(stored.bank.states)
    print(terminal_safe("\n".join([*wrong, f"{count - len(wrong)} of {count} states replay exactly"])))
    return 1 if wrong else 0


def play(options: argparse.Namespace) -> int:
    """Play the arms and print their results."""
    from balrog_rag.banks.bank_arms import arms_of, planned_arms
    from balrog_rag.banks.stored_bank import read
    from balrog_rag.cli.sweep import play_all

    within("--steps", options.steps, 1)
    stored = read(options.banks, options.name)
    code = play_all(
        planned_arms(stored, arms_of(options.arms, options.arm, options.overrides), options.steps)
    )
    print(f"compare them in pairs: {stored.command('compare')}")
    return code


def compare(options: argparse.Namespace) -> int:
    """Print the verdicts."""
    from balrog_rag.banks.arm_comparison import chosen_measures, compared, horizon, loaded
    from balrog_rag.banks.stored_bank import read

    stored = read(options.banks, options.name)
    arms = loaded(stored, options.arms)
    print(terminal_safe(f"{stored.name}: {stored.bank.where}; played {horizon(arms[0].forked[0])}"))
    for name, made, pairings in compared(arms, chosen_measures(arms, options.measure)):
        means = f"{made.our_mean:.2f} and {made.their_mean:.2f}"
        print(terminal_safe(f"{made.measure}, {name} ({means}): {made.sentence}"))
        for line in [*map(str, pairings), *made.notes]:
            print(terminal_safe(f"  {line}"))
    return 0


def publish(options: argparse.Namespace) -> int:
    """Copy a bank and its journals."""
    from balrog_rag.banks import publishing, stored_bank
    from balrog_rag.util.wording import many

    stored = stored_bank.read(options.banks, options.name)
    folder_to_write("--out", options.out)
    stored_bank.refuse_taken(options.out)
    count = publishing.publish(stored, options.out)
    print(f"{options.out}: {many(len(stored.bank.states), 'states')}, {many(count, 'journals')}")
    return 0
