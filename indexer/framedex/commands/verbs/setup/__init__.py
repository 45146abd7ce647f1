"""A first recording, and the state of this installation."""
