"""Captures without JAX: `framedex index` reads one in a tenth of a second, and a JAX program's in two seconds."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.running import PROGRAMS, mock_environment

_CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "version-1.zip"
PUTS = f"""\
import ctypes, sys
sys.path.append({str(PROGRAMS)!r})
from pjrt_table import ABI, Table
table = Table()
client = table.call("PJRT_Client_Create")["client"]
devices = table.call("PJRT_Client_AddressableDevices", client=client)["addressable_devices"]
def put(size):
    dims, data = (ctypes.c_int64 * 1)(size), ctypes.create_string_buffer(size)
    table.call(
        "PJRT_Client_BufferFromHostBuffer", client=client, type=ABI["enums"]["PJRT_Buffer_Type"]["PJRT_Buffer_Type_S8"],
        data=ctypes.addressof(data), dims=ctypes.addressof(dims), num_dims=1,
        device=ctypes.c_void_p.from_address(devices).value,
    )
"""
"""A program that defines `put(size)`, which sends an array of this many bytes through the plug-in's table."""
_LOOP = """\
for size, _ in enumerate(sys.stdin, 1):
    put(size)
    print(size, flush=True)
"""


def unpack_capture(folder: Path, **metadata: object) -> Path:
    """Unpack a capture of `one_put.py` from another machine, with some of its metadata changed. Returns the folder."""
    with zipfile.ZipFile(_CAPTURE) as archive:
        archive.extractall(folder)
    file = folder / "capture.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | metadata))
    return folder


def write_put(path: Path, *more: str) -> Path:
    """Write a program that sends one array through the plug-in's table, and then executes these lines."""
    path.write_text("\n".join([f"{PUTS}put(1)", *more, ""]))
    return path


def start_puts(folder: Path) -> subprocess.Popen[str]:
    """Record into `folder/captures` a program that sends an array of 1, 2, 3, ... bytes for each input line.

    It prints the size after each.
    """
    return subprocess.Popen(
        [sys.executable, "-c", PUTS + _LOOP],
        env=mock_environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
