"""The native stream's results, computed in Python over a whole capture: slow, short, and used for comparison."""
