"""What programs cost, by their lines: which of them compiles, moves data, holds memory, waits."""
