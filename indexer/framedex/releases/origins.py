"""The jaxlib release of a capture's binaries.

The libraries of jaxlib and of its plug-ins have the release of their package. Any other binary may contain parts of
XLA: other plug-ins are XLA themselves, and a library of FFI handlers has definitions from jaxlib's headers. Their
commit is unknown, and only functions in XLA's own namespaces count as XLA.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framedex.binaries.names import parse_name
from framedex.releases.builds import Build

XLA_NAMESPACES = ("xla", "tsl", "stream_executor", "pjrt")
"""The namespaces that only XLA uses."""


@dataclass(frozen=True, slots=True)
class BinaryOrigin:
    """The jaxlib release that contains a function's binary (`is_known`), or that ran with it; empty if neither."""

    release: str = ""
    is_known: bool = False


NO_ORIGIN = BinaryOrigin()


class Origins:
    """Maps the functions of one capture to their origins; `builds` are the recorded components."""

    def __init__(self, builds: Sequence[Build] = ()) -> None:
        self._packages = [(f"{build.folder}/", build.version) for build in builds if build.component == "xla"]
        self._beside = next((build.version for build in builds if build.component == "jaxlib"), "")

    def of(self, binary: str, symbol: str) -> BinaryOrigin:
        """The origin of the function with this demangled name in the binary at this path."""
        for folder, release in self._packages:
            if binary.startswith(folder):
                return BinaryOrigin(release, is_known=True)
        return BinaryOrigin(self._beside) if is_named_by_xla(symbol) else NO_ORIGIN


def is_named_by_xla(symbol: str) -> bool:
    """Whether a function's demangled name is in one of XLA's own namespaces."""
    if not any(f"{namespace}::" in symbol for namespace in XLA_NAMESPACES):
        return False
    return parse_name(symbol).key[:1] in [(namespace,) for namespace in XLA_NAMESPACES]
