"""Questions about a capture as a whole."""
