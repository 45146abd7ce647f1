"""Questions that begin with a name: of a function, or as a text has it."""
