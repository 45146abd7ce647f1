"""Stacks of native code: of debuggers, sanitizers, failure handlers, profilers, and of the kernel."""
