"""The guidebook as a static site. Start at `writer.py`, then `contents.py` and `generator.py`."""
