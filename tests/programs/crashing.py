"""Crash in Python code, after a call of the runtime: `crashing.py FUNCTION [faulthandler]`."""

import ctypes
import faulthandler
import mmap
import os
import resource
import sys
import tempfile

import jax


def segfaults():
    ctypes.string_at(0)  # segfaults


def aborts():
    os.abort()  # aborts


def reads_beyond_the_end_of_a_file():
    with tempfile.TemporaryFile() as file:
        file.truncate(1)
        mapped = mmap.mmap(file.fileno(), 1)
        file.truncate(0)
        print(mapped[0])  # reads_beyond_the_end_of_a_file


def damages_its_frames():
    """Make the frame's link to its caller invalid, then crash."""
    frame = ctypes.c_void_p.from_address(id(sys._getframe()) + 24).value  # PyFrameObject.f_frame
    ctypes.c_void_p.from_address(frame + 8).value = 8  # _PyInterpreterFrame.previous
    ctypes.string_at(0)


@ctypes.CFUNCTYPE(None)
def overflows_the_stack():
    overflows_the_stack()  # overflows_the_stack


jax.device_put(1).block_until_ready()
resource.setrlimit(resource.RLIMIT_STACK, (1 << 19, resource.RLIM_INFINITY))  # less than Python's limit of recursion
if "faulthandler" in sys.argv:
    faulthandler.enable()
vars()[sys.argv[1]]()
