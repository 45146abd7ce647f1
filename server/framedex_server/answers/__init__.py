"""Code that features share: session, locations and texts. No feature is registered here.

Start at `session.py`, then `ways.py` (steps from a line), `costs.py` (costs of lines), `provenance.py` (which captures
are counted), `remote_sources.py` (sources that are not on this machine) and `why.py` (reasons for an empty answer).
"""
