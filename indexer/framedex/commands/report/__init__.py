"""`framedex report`: captures as one HTML file.

Start at `contents.py` (the data), then `page.py`, `charts.py` and `templates/`. `diff_page.py` is the page of two
recordings, and `fragment.py` the output of notebooks.
"""
