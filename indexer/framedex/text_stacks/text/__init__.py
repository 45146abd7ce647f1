"""Text utilities for readers: line prefixes, margins, escapes, and frames from regular expressions."""
