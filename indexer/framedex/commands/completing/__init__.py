"""Shell completion for bash, zsh and fish.

Start at `shells.py`, then `values.py`; `installing.py` edits start-up files. Completion writes nothing and starts
only the framedex that installed it. Names with invisible characters are left out, all others are quoted.
"""
