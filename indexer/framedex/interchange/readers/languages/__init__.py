"""Stacks of other languages, which stand beside ours in the logs of one job."""
