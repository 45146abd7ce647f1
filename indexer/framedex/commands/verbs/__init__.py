"""The verbs of the command line, one per file. No verb imports another."""
