"""The Python API behind `import balrog_rag`: what the commands do, as functions for notebooks and scripts."""
