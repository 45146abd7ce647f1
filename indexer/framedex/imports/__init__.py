"""What other recorders wrote, as captures: a reader for each format, and the calls that are made of what they say."""
