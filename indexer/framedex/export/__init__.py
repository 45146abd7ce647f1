"""What was recorded, in the formats of the viewers that people have: a format, a file."""
