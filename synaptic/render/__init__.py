"""Results as text: `wire` as JSON, `present` as Markdown for agents, `terminal` for people."""
