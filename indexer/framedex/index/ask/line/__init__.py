"""Questions about a line of source, and about the stacks through it."""
