"""`python -m balrog_rag`: the same as `balrog-rag`."""

from balrog_rag.cli.verbs import script

if __name__ == "__main__":
    script()
