"""What verbs print: text for people, links and styles for their terminals, JSON for programs."""
