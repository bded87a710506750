"""What `import balrog_rag` offers: the commands' work as functions, for notebooks and scripts."""
