"""What verbs are given: files, filters, logs, and pasted text."""
