"""What is summed up of a capture while it is written, for the answers of what lines cost: memory, transfers, waits."""
