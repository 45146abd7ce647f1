"""Sources for the frames of a crash text or log."""
