"""The options that choose the machine of the mock TPU, and their check by the mock itself."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from framedex.commands.launching.quantities import Bytes
from framedex.commands.launching.runtimes import Runtime
from framedex.errors import FramedexError

_VARIABLES = {
    "device": "FRAMEDEX_DEVICE",
    "devices": "FRAMEDEX_DEVICES",
    "hosts": "FRAMEDEX_HOSTS",
    "host_id": "FRAMEDEX_HOST_ID",
    "slices": "FRAMEDEX_SLICES",
    "hbm": "FRAMEDEX_HBM",
    "fail": "FRAMEDEX_FAIL",
}
_OPTIONS = (
    click.option("--device", metavar="KIND[:SHAPE]", help="TPU kind and shape: v4, v5e:2x4, ... Default: v5e."),
    click.option(
        "--devices", type=click.IntRange(1), metavar="N", help="Number of devices, in the kind's usual shape."
    ),
    click.option(
        "--hosts", type=click.IntRange(1), metavar="N", help="Split the devices among N hosts; simulate one of them."
    ),
    click.option("--host-id", type=click.IntRange(0), metavar="I", help="The simulated host. Default: 0."),
    click.option("--slices", type=click.IntRange(1), metavar="N", help="Simulate N slices of that shape."),
    click.option("--hbm", type=Bytes(), help="Memory per device, such as 512MiB. Default: that of the kind."),
    click.option(
        "--fail", multiple=True, metavar="RULE", help="Inject a failure: 'PJRT_Client_Compile:2=INTERNAL', 'device:1'."
    ),
)


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the machine options to a command; `machine_variables` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def machine_variables(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The environment variables of the given machine options."""
    if "" in chosen.get("fail", ()):
        raise click.UsageError("--fail is empty: write a rule such as 'device:1', or leave it out.")
    texts = {name: ";".join(value) if isinstance(value, tuple) else value for name, value in chosen.items()}
    return {_VARIABLES[name]: str(text) for name, text in texts.items() if text not in (None, "")}


def check_mock(library: Path, environment: Mapping[str, str], runtime: Runtime) -> None:
    """Raise FramedexError if the mock TPU in `library` rejects these settings: JAX would silently use the CPU."""
    check = getattr(ctypes.CDLL(os.fspath(library)), runtime.value)
    check.argtypes = [ctypes.POINTER(ctypes.c_char_p)]
    check.restype = ctypes.c_char_p
    variables = [os.fsencode(f"{name}={value}") for name, value in environment.items() if name.startswith("FRAMEDEX_")]
    problem = check((ctypes.c_char_p * (len(variables) + 1))(*variables, None))
    if problem is not None:
        raise FramedexError(
            f"The mock TPU cannot be opened: {problem.decode(errors='replace')}.",
            f"Check {runtime.settings}, and the FRAMEDEX_ variables.",
        )
