"""What agents ask: the verbs as tools of the Model Context Protocol, with bounded answers."""
