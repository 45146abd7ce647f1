"""The entries of JAX into the TPU runtime.

Today JAX uses the PJRT C API. jaxlib 0.4.13 uses the TPU C API of StreamExecutor; it is the only stock wheel that still
has that API.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

LEGACY_JAXLIB = "0.4.13"
# Without TPU_LOAD_LIBRARY, a second process fails on a machine-wide lock file. JAX 0.4.13 has no FFI to trace.
_LEGACY_VARIABLES = {"JAX_USE_PJRT_C_API_ON_TPU": "0", "TPU_LOAD_LIBRARY": "1", "FRAMEDEX_FFI": "0"}
_LEGACY_PLATFORMS = {"JAX_PLATFORMS": "tpu,cpu"}


class Runtime(enum.Enum):
    """The entry of a program's JAX into the TPU runtime; the value is the mock's function that checks its settings."""

    PJRT = "framedex_check_mock"
    TPU_EXECUTOR = "framedex_check_legacy_mock"

    @property
    def settings(self) -> str:
        """The options of `framedex run` that choose the mock's machine for this runtime."""
        if self is Runtime.TPU_EXECUTOR:
            return "--device, --devices and --hbm"
        return "--device, --devices, --hosts, --host-id, --slices, --hbm and --fail"

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The additional variables that select this runtime; JAX_PLATFORMS of the user is kept."""
        if self is Runtime.PJRT:
            return {}
        platforms = {} if environment.get("JAX_PLATFORMS") else _LEGACY_PLATFORMS
        return _LEGACY_VARIABLES | platforms
