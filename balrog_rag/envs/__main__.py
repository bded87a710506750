"""Entry point of `python -m balrog_rag.envs`; the command is in `cli/`."""

from balrog_rag.cli.envs import main
from balrog_rag.util.stopping import leave

if __name__ == "__main__":
    leave(main())
