"""The verbs of the command line, one per file; none imports another."""
