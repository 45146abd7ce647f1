"""The verbs of the command line, one per file or group, in rooms by subject. No verb imports another."""
