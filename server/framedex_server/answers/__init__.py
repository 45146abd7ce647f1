"""Code that features share: session, locations and texts. No feature is registered here.

Start at `ways.py`, then `led.py` (the steps of a walk), `costs.py` (costs on lines), `why.py` (reasons for an empty
answer), `elsewhere.py` (public pages) and `guidebook.py`.
"""
