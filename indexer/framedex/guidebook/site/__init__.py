"""The guidebook as a static site. Start at `writing.py`, then `contents.py` and `generator.py`."""
