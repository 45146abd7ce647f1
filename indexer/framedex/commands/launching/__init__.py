"""`framedex run`: start a program under the recorder.

Start at `program.py` (the command to start), then `launch.py`. `outcome.py` reports the end, including a full disk.
"""
