"""`framedex run`: start a program under the recorder.

Start at `program.py` (the command to start), then `launch.py`. `runtimes.py` finds plug-ins, `options.py` has the
options of the mock and the recorder, and `outcome.py` reports the end, including a full disk. `replayed.py` finds the
recording and the plug-ins of `framedex replay` and `framedex reduce`.
"""
