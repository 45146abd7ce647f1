"""What lines of a program cost, as rows: what they have compiled, moved, held and waited for."""
