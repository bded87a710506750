"""Entry point of `python -m balrog_rag.report`; the command is in `cli/`."""

from balrog_rag.cli.report import main
from balrog_rag.util.stopping import leave

if __name__ == "__main__":
    leave(main())
