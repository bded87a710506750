"""NetHack's terminal with its colours, for people who watch."""

import numpy as np

from balrog_rag.contracts.painting import ColouredText
from balrog_rag.envs.nethack.observe import Arrays

_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
_GREY = 7
_BLANK = ord(" ")


def coloured(arrays: Arrays) -> ColouredText:
    """Render the whole terminal; blanks have no colour of their own."""
    signs = arrays["tty_chars"]
    colours = np.where(signs == _BLANK, _GREY, arrays["tty_colors"] & 15)
    row, column = arrays["tty_cursor"].tolist()
    return ColouredText(
        width=signs.shape[1],
        text=signs.astype(np.uint8, copy=False).tobytes().decode("latin-1"),
        colours=_DIGITS[colours].tobytes().decode("ascii"),
        cursor=(row, column),
    )
