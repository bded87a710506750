"""Players outside of the harness: clients with their own loop over MCP, and people."""
