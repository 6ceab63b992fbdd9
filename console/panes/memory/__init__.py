"""The Memory screen: continuity, episodes, patterns, loops, knowledge and kept texts (console.md, screen 6)."""
