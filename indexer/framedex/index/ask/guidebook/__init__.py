"""Questions of the guidebook about one capture: `functions.py` and `roadtrees.py`."""
