"""The ranks of a job that runs, hangs or was killed, from its captures alone: docs/how-to/hung-jobs.md.

Start at `states.py`: what each rank does, from its table of calls in progress and its callbacks that were not invoked.
`verdicts.py` finds the rank that the others wait for, also by its programs (`programs.py`). `lines.py` finds its line.
`reports.py` joins them.

No index, no store, and no process of the job is needed. A rank takes about 3 ms.
"""
