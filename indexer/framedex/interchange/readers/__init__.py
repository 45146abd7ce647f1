"""The formats of stacks, one file per family. `framedex.interchange.lines` tries them in turn."""
