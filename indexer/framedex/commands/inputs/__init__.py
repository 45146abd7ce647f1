"""Inputs of verbs: files, options, selected calls, logs and pasted text.

Start at `pasted_text.py` (a clicked or pasted text) and `project_index.py` (the settings and the index of a verb). Then
read `selection.py` (captures and calls of an answer) and `missing_answers.py` (a name without calls).
"""
