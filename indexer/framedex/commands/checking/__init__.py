"""`framedex doctor`: one check per function. Start at `findings.py`."""
