"""From a frame of a text to its source, held against the files that are here."""
