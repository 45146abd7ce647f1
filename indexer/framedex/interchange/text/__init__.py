"""Text utilities of readers: line prefixes, and frames in columns."""
