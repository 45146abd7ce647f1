"""Native stacks: debuggers, sanitizers, failure handlers, profilers and the kernel."""
