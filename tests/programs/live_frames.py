"""Stop in frames of many kinds on several threads, and print the truth: each thread's frames, innermost first."""

import json
import sys
import threading
import time
from pathlib import Path

never = threading.Event()
ready = threading.Barrier(7)


def wait():
    ready.wait()
    # fmt: off
    (never
     .wait)(
    )
    # fmt: on


def generator():
    try:
        yield from (wait() for _ in "x")
    finally:
        pass


class Créature:
    """A class with a non-ASCII name, whose constructor is specialised after many runs."""

    def __init__(self, stops):
        if stops:
            with threading.Lock():
                wait()


def construct():
    for stops in [False] * 200 + [True]:
        Créature(stops)


def 长名():  # noqa: N802 - not Latin
    return [wait() for _ in "x"]


def recursion(depth):
    if depth:
        return recursion(depth - 1)
    return wait()


def evaluated():
    exec(compile("def inner():\n\n    wait()\ninner()", "<a text>", "exec"), {"wait": wait})


def called_by_c():
    return max([1, 2], key=lambda _: wait())


def frames_of(frame):
    while frame is not None:
        yield [frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno]
        frame = frame.f_back


threads = [
    threading.Thread(target=target, daemon=True)
    for target in (lambda: list(generator()), construct, 长名, lambda: recursion(100), evaluated, called_by_c)
]
for thread in threads:
    thread.start()
ready.wait()


def is_asleep(thread):
    return Path(f"/proc/self/task/{thread.native_id}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"S"


while not all(map(is_asleep, threads)) or not all(
    "Event.wait" in [name for name, *_ in frames_of(sys._current_frames()[thread.ident])][:2] for thread in threads
):
    time.sleep(0.01)
current = sys._current_frames()
print(json.dumps({thread.native_id: list(frames_of(current[thread.ident])) for thread in threads}), flush=True)
never.wait()
