"""The formats, a file for each family, in rooms of what prints them. `framedex.interchange.lines` asks them in turn."""
