"""Forbids other processes of this user to trace the process, once a program opens the TPU: a behaviour."""

import ctypes

from framedex_native.behaviour import on

PR_SET_DUMPABLE = 4


@on("PJRT_Client_Create")
def forbid(call):
    assert ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
