"""The verbs of the command line, one per file or group. No verb imports another."""
