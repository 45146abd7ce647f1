"""The process of a notebook: the connection of its JAX to framedex, and its machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from framedex.errors import FramedexError
from framedex.plaintext import printable

_PLUGIN = "FRAMEDEX_PLUGIN"  # the plug-in that framedex loads in place of the mock
_RESTART = "Restart the kernel and run `%load_ext framedex` in its first cell"


class Kernel:
    """The runtime that JAX loads in this process."""

    def __init__(self) -> None:
        self._is_missed = _has_opened_devices() and not _is_ours()
        self._trouble: FramedexError | None = None

    def prepare(self, plugin: str = "", machine: Mapping[str, str] | None = None) -> None:
        """Make JAX load the mock TPU, or a plug-in, through framedex when it opens its devices.

        `machine` are variables for the mock TPU. A kernel started by `framedex run` keeps its machine unless another is
        chosen. Raises FramedexError if that fails; `recordable` then raises it, too.
        """
        try:
            if plugin or machine or not _is_ours():
                self._prepare(plugin, machine or {})
            self._trouble = None
        except FramedexError as error:
            self._trouble = error
            raise

    @property
    def runtime(self) -> str:
        """The name of JAX's runtime in this process."""
        plugin = os.environ.get(_PLUGIN)
        return f"the plug-in {printable(plugin)}" if plugin else "the mock TPU"

    def recordable(self) -> None:
        """Raise FramedexError if this process cannot be recorded."""
        if self._is_missed and _has_opened_devices():
            raise FramedexError(
                "JAX initialised its devices before framedex was loaded, so this kernel cannot be recorded.",
                f"{_RESTART}, or run this cell in a process of its own: %%framedex --fresh.",
            )
        if self._trouble is not None:
            raise self._trouble

    def choose(self, plugin: str, machine: Mapping[str, str]) -> None:
        """Choose another machine than the default. Raises FramedexError if JAX has already opened its devices."""
        if not (plugin or machine):
            return
        if _has_opened_devices():
            raise FramedexError(
                "JAX has already initialised its devices, so this kernel cannot change the machine.",
                f"{_RESTART}, and choose before JAX is used, or run this cell in a process of its own:"
                " %%framedex --fresh.",
            )
        if not plugin:
            os.environ.pop(_PLUGIN, None)
        self.prepare(plugin, machine)

    def _prepare(self, plugin: str, machine: Mapping[str, str]) -> None:
        from framedex.commands.launching.launch import check_jaxlib, check_python, loading_variables
        from framedex.commands.launching.plugins import find_plugin
        from framedex.commands.launching.runtimes import Runtime
        from framedex.nativepart import ffi

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
            runtime = check_jaxlib(sys.executable)  # noqa: TID251
        variables = loading_variables(found, runtime, os.environ | machine)
        if _has_opened_devices():
            return
        os.environ.update(machine)
        os.environ.update(variables)
        ffi.install()
        if (jax := sys.modules.get("jax")) and "JAX_PLATFORMS" in machine:  # JAX has already read the environment
            jax.config.update("jax_platforms", machine["JAX_PLATFORMS"])


def why_nothing() -> str:
    """The probable reason for a cell without calls into the runtime."""
    jax = sys.modules.get("jax")
    if jax is None:
        return "JAX was not imported."
    if not _has_opened_devices():
        return "JAX has not opened its devices yet."
    platform = jax.default_backend()
    if platform == "cpu":
        return "JAX runs on the CPU: something sets JAX_PLATFORMS, jax_platforms or jax_default_device."
    return "This cell asked nothing of it."


def _has_opened_devices() -> bool:
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and bool(bridge.backends_are_initialized())


def _is_ours() -> bool:
    """Whether JAX loads its runtime through framedex."""
    from framedex.inprocess import can_record_here

    try:
        return can_record_here()
    except FramedexError:
        return False
