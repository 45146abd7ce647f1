"""The formats of other recorders, one reader per file. A reader passes its stacks to a `ProfileBuilder`."""
