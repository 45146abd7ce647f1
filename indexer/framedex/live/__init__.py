"""A process as it is now: its threads, Python frames, calls in progress and waits; and why it hangs.

Start at `snapshot.py`: `take_snapshot` joins the kernel's threads (`tasks.py`), Python's frames (`python_frames.py`,
with the offsets of `runtime.py`) and the capture's open calls. `targets.py` finds the process that a user means.
`waits.py` finds the wait of each thread, and `diagnosis.py` traces these waits from two snapshots. `observation.py`
takes the snapshots, and `child_processes.py` adds waits for other processes. `native/` has the native frames, also
those of core files.

Invariants:

- The process is only read: it is not stopped, traced or signalled, and runs no code for us. One exception:
  `native/stopped.py` stops it for a moment.
- It may be in any state: running, stopped, deadlocked, ended. It may change or end during each read.
- A Python frame has the line that it executes. Frames that changed during each attempt to read them are marked.
- An answer needs no index and imports no numpy, so it takes 0.3 s.
"""
