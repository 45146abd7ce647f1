"""Starts and ends threads without end, while the main thread stays on one line."""

import threading


def work(depth):
    if depth:
        work(depth - 1)


def start_many():
    while True:
        threads = [threading.Thread(target=work, args=(50,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


threading.Thread(target=start_many, daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
