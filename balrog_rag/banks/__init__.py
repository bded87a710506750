"""Phase banks: states of recorded episodes that satisfy a condition, and variants played from them."""
