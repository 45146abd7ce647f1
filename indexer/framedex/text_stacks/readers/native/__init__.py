"""Parsers of native stacks: debuggers, sanitizers, failure handlers, profilers and the kernel."""
