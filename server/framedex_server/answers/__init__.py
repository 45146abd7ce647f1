"""The common parts of features: session, places and texts. Nothing here registers a feature.

Start at `ways.py`, then `led.py` (the steps of a walk), `costs.py` (costs on lines), `why.py` (reasons for an empty
answer), `elsewhere.py` (public pages) and `guidebook.py`.
"""
