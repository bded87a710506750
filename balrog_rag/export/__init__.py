"""Episodes written in other people's formats."""
