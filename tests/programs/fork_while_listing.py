"""Fork while another thread's first call makes the loader list libraries; the child makes calls and loads a library."""

import ctypes
import json
import os
import signal
import sys
import threading

from pjrt_table import Table

table = Table()
table.call("PJRT_Plugin_Attributes")
entered, tells = os.pipe()
waits, release = os.pipe()
ctypes.CDLL(sys.argv[1]).stay_inside(tells, waits)
other = threading.Thread(target=table.call, args=("PJRT_Plugin_Attributes",))
other.start()
os.read(entered, 1)
child = os.fork()
if child == 0:
    signal.alarm(20)
    table.call("PJRT_Plugin_Attributes")
    ctypes.CDLL("libutil.so.1")
    os._exit(0)
os.write(release, b"x")
other.join()
print(json.dumps({"child": child, "status": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}))
