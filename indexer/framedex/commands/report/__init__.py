"""`framedex report`: captures as one HTML file.

Start at `contents.py` (the data), then `page.py`, `filling.py` and `templates/`; `diff_page.py` shows two
recordings.
"""
