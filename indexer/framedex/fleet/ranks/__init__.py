"""Differences between the ranks of one job: docs/how-to/jobs.md.

Start at `comparing.py`, then `members.py` (the captures of a job), `reading.py` (the compared calls), `families.py`,
`departures.py` and `sequences.py`. For times: `together.py` (ranks that did not run at the same time), `timing.py`,
`loops.py`, `clocks.py` and `steps.py`.
"""
