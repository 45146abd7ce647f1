"""Replays: run the calls of a capture again at a PJRT plug-in, without JAX and the program, and compare the results.

Start at `recorded_calls.py`, which translates a capture into the operations of `plan.py`. `runner.py` runs them in a
child process with native/replay, which `confinement.py` confines. `judging.py` compares the results with the recording
or with another plug-in, or looks for NaN; `comparison.py` compares two arrays. `call_lines.py` finds the Python line of
a call.

`bisection.py` finds the op where a difference or NaN begins. `isolation.py` replaces the dependencies of an execution
by the contents of its arguments. `probes.py` runs its program with values inside it as results; the script
`probed_program.py` edits the program in a Python with JAX. `origins.py` follows a wrong value from op to op.
`reduction.py` cuts a plan down to a few ops; `recording_file.py` and `standalone.py` write the result.

Invariants:

- An operation runs only if everything that it depends on was replayed. The other calls are listed with the reason.
- The plug-in runs in a child process, so its crash is a result.
- A capture's program is code for the plug-in's compiler. framedex itself executes no part of a capture.
"""
