"""From the sources of which release of jaxlib the binaries of a capture were built.

The libraries of jaxlib and of its plug-ins say it by the package that they came in. Any other binary may have parts of
XLA in it: other plug-ins are XLA themselves, and a library of FFI handlers has what jaxlib's headers define. Of which
commit nobody can tell; and only what is in a namespace of XLA's own is taken to be XLA's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framedex.binaries.names import parse_name
from framedex.releases.builds import Build

XLA_NAMESPACES = ("xla", "tsl", "stream_executor", "pjrt")
"""What names begin with that nobody has but XLA."""


@dataclass(frozen=True, slots=True)
class BinaryOrigin:
    """The release of jaxlib that a function's binary came in (`is_known`), or that it ran with; empty: neither."""

    release: str = ""
    is_known: bool = False


NO_ORIGIN = BinaryOrigin()


class Origins:
    """Gives functions of one capture their origins; `builds` are the components that were recorded in it."""

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
    """Whether the demangled name of a function is in a namespace of XLA's own."""
    if not any(f"{namespace}::" in symbol for namespace in XLA_NAMESPACES):
        return False
    return parse_name(symbol).key[:1] in [(namespace,) for namespace in XLA_NAMESPACES]
