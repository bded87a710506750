"""`python -m balrog_rag.episode show|verify|fork`: look into a journal, check it, or play on from it."""

from balrog_rag.eval.look import main
from balrog_rag.stopping import leave

if __name__ == "__main__":
    leave(main())
