"""Compilation by a real TPU compiler for a plan of memory: libtpu compiles ahead of time, without a TPU."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir

_COMPILER_SETTING = "FRAMEDEX_PLAN_COMPILER"  # the path of the plug-in; FRAMEDEX_DEVICE has a shape, such as v5e:2x2
_PLUGIN = "framedex_plan_compiler"
# Without these, libtpu asks for the metadata of a TPU VM, and reports on stderr that there is none.
_WITHOUT_VM = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",  # has no effect on the topologies that programs are compiled for
}
# A client of a v4 has one device for each chip; a topology has two unless it names this configuration.
_TOPOLOGY_OPTIONS = {"v4": {"chip_config_name": "megacore"}}
_NEEDED = re.compile(r"required for HLO temporaries \((?P<number>[\d.]+)(?P<unit>[KMGT]?)\)")
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


@dataclass(frozen=True)
class PlannedCompilation:
    """The result of the planned machine's compiler: its executable, or the temporaries of a program that is too large.

    The other field is None, or 0.
    """

    executable: Any | None
    temporaries: int = 0


def compile_for_plan(
    parse: Callable[[], ir.Module], options: bytes, assignment: Any, device_ids: Sequence[int]
) -> PlannedCompilation | None:
    """Compile the module that `parse` returns, in the current context, for the planned machine.

    None if no compiler is set. Its errors are printed on stderr: None if it rejects the program.
    """
    path = os.environ.get(_COMPILER_SETTING)
    if not path:
        return None
    settings = _jax.CompileOptions.ParseFromString(options)
    settings.device_assignment = assignment
    try:
        devices = _planned_devices(path, os.environ["FRAMEDEX_DEVICE"])
        chosen = _jax.DeviceList(tuple(devices[number] for number in device_ids))
        with mlir.make_ir_context():
            return PlannedCompilation(chosen[0].client.compile(parse(), chosen, settings))
    except (_jax.JaxRuntimeError, KeyError) as error:
        print(f"framedex: {os.path.basename(path)}: {error}", file=sys.stderr, flush=True)  # noqa: PTH119
        needed = _NEEDED.search(str(error))
        return PlannedCompilation(None, _parse_size(needed)) if needed else None


def _parse_size(needed: re.Match[str]) -> int:
    return round(float(needed["number"]) * (1 << _UNITS[needed["unit"]]))


@functools.cache
def _planned_devices(path: str, machine: str) -> dict[int, Any]:
    """The devices of a machine by id; programs are compiled for them, and never run."""
    for name, value in _WITHOUT_VM.items():
        os.environ.setdefault(name, value)
    plugin = _jax.load_pjrt_plugin(_PLUGIN, path, None)
    _jax.initialize_pjrt_plugin(_PLUGIN)
    kind = machine.partition(":")[0]
    topology = _jax.get_c_api_topology(plugin, machine, _TOPOLOGY_OPTIONS.get(kind, {}))
    return {device.id: device for device in topology._make_compile_only_devices()}
