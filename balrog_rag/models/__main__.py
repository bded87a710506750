"""Entry point of `python -m balrog_rag.models`; the command is in `cli/`."""

from balrog_rag.cli.models import main
from balrog_rag.util.stopping import leave

if __name__ == "__main__":
    leave(main())
