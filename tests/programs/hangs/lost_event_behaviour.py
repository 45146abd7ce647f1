"""Loses the events of a line: they are never ready, and their callbacks are never called."""

from framedex_native.behaviour import on

is_lost = False


@on("PJRT_LoadedExecutable_Execute")
def run(call):
    global is_lost
    is_lost = call.line is not None and call.line.text.strip().endswith("# loses its event")


@on("PJRT_Event_OnReady")
def lose(call):
    if is_lost:
        call.result = {}


@on("PJRT_Event_IsReady")
def is_ready(call):
    if is_lost:
        call.result = False
