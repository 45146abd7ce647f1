"""Export of recorded calls to the formats of other viewers.

Start at `formats.py` (all formats), then `content.py` (the exported data) and `samples.py` (stacks with weights).
"""
