"""Which line each custom call came from: an id from `ffi_call`, carried by the program itself to its executable.

The id is the content hash of the target and the whole Python stack, so it is the same in every process and a compiled
program of the persistent cache is found again. It travels with the parameter `attributes` of the primitive, unseen by
whoever prints, compares or pickles that, and is a frontend attribute of the custom call from its lowering on: XLA
neither looks at those nor keeps two calls apart for them, and a handler is not told.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from .library import Library
from .stacks import Frame, UserFrames, frames_from

FRONTEND_ATTRIBUTE = "framedex_site"
_FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"


class SitedAttributes(tuple[Any, ...]):
    """The attributes of an ffi_call, with the id of its site. It prints, hashes and pickles as the tuple it is.

    It equals a tuple with the same items, but not one of another site: what JAX caches by its parameters is then found
    again for this site only.
    """

    site: str

    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        """Equal items, and not two different sites."""
        is_other_site = isinstance(other, SitedAttributes) and other.site != self.site
        return not is_other_site and tuple.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        """The opposite of equality."""
        return not self == other

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Pickled as a plain tuple: it may be read where there is no framedex."""
        return tuple, (tuple(self),)


class Sites:
    """The sites that this process has met, described once each."""

    def __init__(self, library: Library, user_frames: UserFrames) -> None:
        """Sites are described through `library`."""
        self._library = library
        self._user_frames = user_frames
        self._lock = threading.Lock()
        self._lines: dict[str, str] = {}

    def id_of(self, target: str, frames: Sequence[Frame]) -> str:
        """The id of a target's site, as `0x` and 16 digits."""
        text = repr((target, tuple(frames))).encode("utf-8", "surrogatepass")
        site = f"0x{int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), 'big') or 1:x}"
        with self._lock:
            is_new = site not in self._lines
            if is_new:
                self._lines[site] = self._user_frames.line(frames)
        if is_new:
            content = {"site": site, "target": target, "user_frame": self._user_frames.first(frames), "frames": frames}
            self._library.describe("ffi_site", content)
            self._library.add_site(target, self._lines[site])
        return site

    def line(self, site: str) -> str:
        """The line of a site for people; the id where another process has met it."""
        return self._lines.get(site, f"site {site} of another process")


def follow_calls(ffi: Any, mlir: Any, sites: Sites) -> None:
    """Have every `ffi_call` of `jax._src.ffi` carry its site into its custom call."""
    _add_sites(ffi, sites)
    _lower_with_sites(ffi, mlir)


def _add_sites(ffi: Any, sites: Sites) -> None:
    """`ffi_call` builds its attributes right before it binds the primitive. What is done here leaves no frame on the
    stack of what follows, so tracebacks and locations in exported programs stay as they are."""
    build_attributes: Callable[[dict[str, Any]], tuple[Any, ...]] = ffi._wrap_kwargs_hashable

    @functools.wraps(build_attributes)
    def build_sited_attributes(kwargs: dict[str, Any]) -> tuple[Any, ...]:
        attributes = build_attributes(kwargs)
        caller = sys._getframe(1)
        if caller.f_code.co_name != "wrapped" or type(attributes) is not tuple:
            return attributes
        try:
            sited = SitedAttributes(attributes)
            sited.site = sites.id_of(caller.f_locals["target_name"], frames_from(caller))
        except Exception:  # whatever it is: the program has to go on without a site
            return attributes
        return sited

    ffi._wrap_kwargs_hashable = build_sited_attributes


def _lower_with_sites(ffi: Any, mlir: Any) -> None:
    lower = ffi.ffi_call_lowering

    @functools.wraps(lower)
    def lower_with_site(ctx: Any, *operands: Any, **params: Any) -> Any:
        results = lower(ctx, *operands, **params)
        attributes = params["attributes"]
        # What is exported has to be what it is without framedex.
        if isinstance(attributes, SitedAttributes) and not ctx.module_context.lowering_parameters.for_export:
            with suppress(Exception):  # as above
                call = _custom_call(mlir.ir, results, params["target_name"])
                if call is not None:
                    _put_site(mlir.ir, call, attributes.site)
        return results

    mlir.register_lowering(ffi.ffi_call_p, lower_with_site)


def _custom_call(ir: Any, results: Sequence[Any], target: str) -> Any:
    """The custom call that was just built: its results lead to it, and if it has none it is the newest of its block."""
    candidates = [results[0].owner] if results else reversed(list(ir.InsertionPoint.current.block.operations))
    for candidate in candidates:
        operation = candidate.operation
        is_custom_call = operation.name == "stablehlo.custom_call"
        if is_custom_call and ir.StringAttr(operation.attributes["call_target_name"]).value == target:
            return operation
    return None


def _put_site(ir: Any, operation: Any, site: str) -> None:
    attributes = operation.attributes  # of MLIR: no dictionary, it has no get()
    entries = {}
    if _FRONTEND_ATTRIBUTES in attributes:
        entries = {entry.name: entry.attr for entry in attributes[_FRONTEND_ATTRIBUTES]}
    entries[FRONTEND_ATTRIBUTE] = ir.StringAttr.get(site)
    attributes[_FRONTEND_ATTRIBUTES] = ir.DictAttr.get(entries)
