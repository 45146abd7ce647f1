"""What the ranks of one job differ in: `comparing.py` puts together what the others find. docs/fleet-job.md shows it.

`members.py`: which captures are the job's ranks. `reading.py`: the calls that are compared, as numbers.
`together.py`: whether they ran at the same time.
`sequences.py` and `departures.py`: what a rank calls, and the others do not. `clocks.py`, `steps.py` and
`timing.py`: who makes the others wait.
"""
