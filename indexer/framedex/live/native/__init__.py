"""The native frames of a living process or a core file, merged with the Python frames.

Start at `stacks.py`. `core_file.py` and `stopped.py` make a `ProcessImage` (`image.py`) of a core file or a living
process: registers, mapped files and memory. `modules.py` compares the mapped binaries with those of this machine.
`unwinding.py` walks the native frames by their unwind tables. `merging.py` puts Python frames
(`live/python_frames.py`) in the place of the native frame that evaluates them. `naming.py` finds functions and source
lines.

Invariants:

- If a local binary is a different build from the process's, its frames are neither named nor unwound.
- A caller is looked up at its call, not at the next instruction, which may be in another function.
- A living process is stopped until its stacks are copied and its Python is read, not while frames are named. It runs
  no code for us, and no signal is lost.
- A stack that cannot be followed ends with the reason. Python frames whose place is unknown are shown apart.
"""
