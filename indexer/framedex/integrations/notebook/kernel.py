"""The kernel process of a notebook: how its JAX loads framedex, and on which machine it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable

_PLUGIN = "FRAMEDEX_PLUGIN"  # the plug-in that framedex loads instead of the mock
_RESTART = "Restart the kernel and run `%load_ext framedex` in its first cell"


class JaxRuntime:
    """The runtime that JAX loads in this process."""

    def __init__(self) -> None:
        self._is_loaded_too_late = _has_opened_devices() and not _uses_framedex_runtime()
        self._prepare_error: FramedexError | None = None

    def prepare(self, plugin: str = "", machine: Mapping[str, str] | None = None) -> None:
        """Make JAX load the mock TPU, or a plug-in, through framedex when it opens its devices.

        `machine` are environment variables for the mock TPU. A kernel started by `framedex run` keeps its machine
        unless another is chosen. Raises FramedexError on failure; `check_recordable` then raises the same error.
        """
        try:
            if plugin or machine or not _uses_framedex_runtime():
                self._prepare(plugin, machine or {})
            self._prepare_error = None
        except FramedexError as error:
            self._prepare_error = error
            raise

    @property
    def runtime(self) -> str:
        """The name of JAX's runtime in this process."""
        plugin = os.environ.get(_PLUGIN)
        return f"the plug-in {make_printable(plugin)}" if plugin else "the mock TPU"

    def check_recordable(self) -> None:
        """Raise FramedexError if this process cannot be recorded."""
        if self._is_loaded_too_late and _has_opened_devices():
            raise FramedexError(
                "JAX initialised its devices before framedex was loaded, so this kernel cannot be recorded.",
                f"{_RESTART}. Or run this cell in a new process: %%framedex --fresh.",
            )
        if self._prepare_error is not None:
            raise self._prepare_error

    def choose_machine(self, plugin: str, machine: Mapping[str, str]) -> None:
        """Choose a machine other than the default. Raises FramedexError if JAX has already opened its devices."""
        if not (plugin or machine):
            return
        if _has_opened_devices():
            raise FramedexError(
                "JAX has already initialised its devices, so this kernel cannot change the machine.",
                f"{_RESTART}, and choose the machine before JAX is used. Or run this cell in a new process:"
                " %%framedex --fresh.",
            )
        if not plugin:
            os.environ.pop(_PLUGIN, None)
        self.prepare(plugin, machine)

    def _prepare(self, plugin: str, machine: Mapping[str, str]) -> None:
        from framedex.base.nativepart import ffi
        from framedex.commands.launching.launch import build_loading_variables, check_python, find_runtime
        from framedex.commands.launching.runtimes import Runtime, find_plugin

        check_python(sys.executable)  # noqa: TID251
        runtime, found = Runtime.PJRT, None
        if plugin:
            found = find_plugin(plugin, sys.executable)  # noqa: TID251
            if found.name is None:
                raise FramedexError(
                    "A plug-in that its own package registers can be recorded only from the start of a process.",
                    "Start Jupyter under it, `framedex run --plugin NAME -m jupyter lab`, or use %%framedex --fresh.",
                )
        else:
            runtime = find_runtime(sys.executable)  # noqa: TID251
        variables = build_loading_variables(found, runtime, os.environ | machine)
        if _has_opened_devices():
            return
        os.environ.update(machine)
        os.environ.update(variables)
        ffi.install()
        if (jax := sys.modules.get("jax")) and "JAX_PLATFORMS" in machine:  # JAX has already read the environment
            jax.config.update("jax_platforms", machine["JAX_PLATFORMS"])


def explain_no_calls() -> str:
    """The probable reason why a cell made no calls into the runtime."""
    jax = sys.modules.get("jax")
    if jax is None:
        return "JAX was not imported."
    if not _has_opened_devices():
        return "JAX has not opened its devices yet."
    platform = jax.default_backend()
    if platform == "cpu":
        return "JAX runs on the CPU: something sets JAX_PLATFORMS, jax_platforms or jax_default_device."
    return "This cell made no runtime calls."


def _has_opened_devices() -> bool:
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and bool(bridge.backends_are_initialized())


def _uses_framedex_runtime() -> bool:
    """Whether JAX loads its runtime through framedex in this process."""
    from framedex.integrations.process_recorder import can_record_here

    try:
        return can_record_here()
    except FramedexError:
        return False
