"""Parsers of stack formats, one file per family. `framedex.interchange.lines` tries them in turn."""
