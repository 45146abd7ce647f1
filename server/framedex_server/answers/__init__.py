"""What features have in common: the session, places and texts of answers. Nothing here registers a feature."""
