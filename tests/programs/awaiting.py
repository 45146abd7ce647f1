"""Wait for events in calls, unlike jaxlib; print the duration in ns by the name of the line's case."""

import json
import threading
import time

from pjrt_table import Table

TAKES = 0.1  # seconds
table = Table()
event = table.call("PJRT_Event_Create")["event"]


def fire():
    time.sleep(TAKES)
    table.call("PJRT_Event_Set", event=event, error_code=0)


threading.Thread(target=fire).start()
began = time.perf_counter_ns()
table.call("PJRT_Event_Await", event=event)  # case: awaited
took = {"awaited": time.perf_counter_ns() - began}
table.call("PJRT_Event_Await", event=event)  # case: fired
never = table.call("PJRT_Event_Create")["event"]
began = time.perf_counter_ns()
threading.Thread(target=lambda: table.call("PJRT_Event_Await", event=never), daemon=True).start()  # case: hangs
time.sleep(TAKES)
took["hangs"] = time.perf_counter_ns() - began
table.call("PJRT_Event_Destroy", event=event)
print(json.dumps(took))
