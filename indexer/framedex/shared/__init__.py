"""The format of the file that `framedex share` writes, and its reader: docs/how-to/share.md.

Start at `contents.py`, then `archive.py`, `columns.py`, `reading.py` and `keeping.py`.

A shared file refers to nothing on the reader's machine. The reader checks each reference before it writes a row, and
no name in the file becomes a path.
"""
