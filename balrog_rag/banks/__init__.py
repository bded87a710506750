"""Phase banks: states of recorded episodes that satisfy a condition, and variants played from them."""

from pathlib import Path

BANKS = Path("banks")
"""The folder of banks unless another is named."""
