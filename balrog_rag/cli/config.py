"""`balrog-rag config`: the schema of the configuration, for editors and as a page."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from balrog_rag.cli.command_line import Parser, called, ended, folder_to_write


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; an error is one line on stderr."""
    options = parser().parse_args(arguments)
    return ended(lambda: options.run(options))


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    top = Parser(prog=called("config"), description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    schema = commands.add_parser(
        "schema",
        help="write JSON Schemas with which editors complete and check configuration files",
        description="Writes config.json (files that set everything, such as experiments) and one file per "
        "group, such as agent.json. See docs/how-to/edit-configuration.md for how editors use them.",
    )
    schema.add_argument("--out", type=Path, default=Path("schema"), help="folder to write (default: schema)")
    schema.set_defaults(run=_schema)
    reference = commands.add_parser("reference", help="print every key as a Markdown page")
    reference.set_defaults(run=_reference)
    return top


def _schema(options: argparse.Namespace) -> int:
    from balrog_rag.config.json_schema import json_schemas

    folder_to_write("--out", options.out)
    options.out.mkdir(parents=True, exist_ok=True)
    schemas = json_schemas()
    for name, schema in schemas.items():
        text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        (options.out / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{options.out}: {', '.join(f'{name}.json' for name in schemas)}")
    return 0


def _reference(_: argparse.Namespace) -> int:
    from balrog_rag.config.key_reference import key_reference

    print(key_reference(), end="")
    return 0
