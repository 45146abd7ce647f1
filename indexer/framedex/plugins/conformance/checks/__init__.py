"""The checks, one module per group. Each docstring is a rule of the C API's header."""
