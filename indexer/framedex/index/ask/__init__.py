"""The questions that an index answers, by what they are about."""
