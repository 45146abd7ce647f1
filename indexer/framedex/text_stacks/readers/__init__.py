"""Parsers of stack formats, one file per family. `framedex.text_stacks.lines` tries them in turn."""
