"""What `framedex doctor` looks at besides an index: one thing in each function, and each for real."""
