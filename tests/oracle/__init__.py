"""What the stream of calls finds natively, found in Python over a whole capture: slow, short, and compared with it."""
