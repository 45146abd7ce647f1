"""Stacks of Python: of the interpreter, its debuggers and profilers, and of what frames tracebacks anew."""
