"""Texts of games and models in CSV files: nothing that a terminal or a spreadsheet would act on."""

from balrog_rag.util.terminal_safe import terminal_safe

FORMULA = tuple("=+-@＝＋－＠")
"""What a spreadsheet takes for the beginning of a formula, also behind blanks."""


def harmless(text: str) -> str:
    """A cell that nothing acts on: control characters become dots, and a quote stands before a formula."""
    shown = terminal_safe(text)
    formula = text.startswith(("\t", "\r")) or text.lstrip().startswith(FORMULA)
    return f"'{shown}" if formula else shown
