"""Code that features share: session, locations and texts. No feature is registered here.

Start at `session.py`, then `navigation_targets.py` (targets of a line) and `costs.py` (costs of lines).
`provenance.py` names the counted captures, `remote_sources.py` finds sources on other machines, and `why.py` explains
an empty answer.
"""
