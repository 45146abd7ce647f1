"""Parsers of Python stacks: tracebacks, debuggers, profilers, and tools that reformat tracebacks."""
