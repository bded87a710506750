"""`python -m balrog_rag` alone: which commands there are."""

import sys

from balrog_rag.cli.main import which_command

if __name__ == "__main__":
    sys.exit(which_command(sys.argv[1:]))
