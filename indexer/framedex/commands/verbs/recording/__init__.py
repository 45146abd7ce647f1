"""Record a program, index its captures, and manage captures and sources."""
