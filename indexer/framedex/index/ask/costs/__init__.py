"""What lines of the program cost: what they have compiled, moved, held and waited for."""
