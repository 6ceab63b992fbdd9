"""The demo: a store with a history, a fleet of real MCP stdio clients on it, and a rehearsal of the operator's part (issue 2, item 9)."""
