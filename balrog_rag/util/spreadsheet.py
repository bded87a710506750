"""Make texts of games and models safe in CSV files, for terminals and spreadsheets."""

from balrog_rag.util.terminal_safe import terminal_safe

FORMULA = tuple("=+-@＝＋－＠")
"""Characters that start a formula in a spreadsheet, also after blanks."""


def harmless(text: str) -> str:
    """Return the text as a safe cell: control characters become dots, and a quote precedes a formula."""
    shown = terminal_safe(text)
    formula = text.startswith(("\t", "\r")) or text.lstrip().startswith(FORMULA)
    return f"'{shown}" if formula else shown
