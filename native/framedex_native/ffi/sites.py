"""The source line of each custom call, found through a site id that the program itself carries.

`ffi_call` creates the id: a content hash of the target and the whole Python stack. The id is the same in every process,
so programs are still found in the persistent compilation cache. It is stored in the primitive's parameter `attributes`,
hidden from printing, comparing and pickling. Lowering turns it into a frontend attribute of the custom call. XLA
ignores these attributes, even when it merges equal calls, and handlers do not see them.
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


class AttributesWithSite(tuple[Any, ...]):
    """The attributes of an ffi_call with the id of its site. It prints, hashes and pickles as a plain tuple.

    It equals a tuple with the same items, except one from another site. JAX's caches therefore find an entry again only
    for the same site.
    """

    site: str

    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        """Whether the items are equal and the sites do not differ."""
        is_other_site = isinstance(other, AttributesWithSite) and other.site != self.site
        return not is_other_site and tuple.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        """Whether the values differ."""
        return not self == other

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Pickle as a plain tuple, which loads without framedex."""
        return tuple, (tuple(self),)


class Sites:
    """The sites seen in this process, each described once."""

    def __init__(self, library: Library, user_frames: UserFrames) -> None:
        """Describe sites through `library`."""
        self._library = library
        self._user_frames = user_frames
        self._lock = threading.Lock()
        self._lines: dict[str, str] = {}

    def id_of(self, target: str, frames: Sequence[Frame]) -> str:
        """The id of a target's site: `0x` and up to 16 digits."""
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
        """The readable source line of a site, or its id if only another process saw the site."""
        return self._lines.get(site, f"site {site} of another process")


def attach_sites(ffi: Any, mlir: Any, sites: Sites) -> None:
    """Make every `ffi_call` of `jax._src.ffi` carry its site into its custom call."""
    _add_sites(ffi, sites)
    _lower_with_sites(ffi, mlir)


def _add_sites(ffi: Any, sites: Sites) -> None:
    """Add the site id where `ffi_call` builds its attributes, right before it binds the primitive.

    The hook leaves no frame on the stack of later code. Tracebacks, and locations in exported programs, stay unchanged.
    """
    build_attributes: Callable[[dict[str, Any]], tuple[Any, ...]] = ffi._wrap_kwargs_hashable

    @functools.wraps(build_attributes)
    def build_sited_attributes(kwargs: dict[str, Any]) -> tuple[Any, ...]:
        attributes = build_attributes(kwargs)
        caller = sys._getframe(1)
        if caller.f_code.co_name != "wrapped" or type(attributes) is not tuple:
            return attributes
        try:
            sited = AttributesWithSite(attributes)
            sited.site = sites.id_of(caller.f_locals["target_name"], frames_from(caller))
        except Exception:  # on any failure the program must continue without a site
            return attributes
        return sited

    ffi._wrap_kwargs_hashable = build_sited_attributes


def _lower_with_sites(ffi: Any, mlir: Any) -> None:
    lower = ffi.ffi_call_lowering

    @functools.wraps(lower)
    def lower_with_site(ctx: Any, *operands: Any, **params: Any) -> Any:
        results = lower(ctx, *operands, **params)
        attributes = params["attributes"]
        # An exported program must be the same as without framedex.
        if isinstance(attributes, AttributesWithSite) and not ctx.module_context.lowering_parameters.for_export:
            with suppress(Exception):  # as above
                call = _custom_call(mlir.ir, results, params["target_name"])
                if call is not None:
                    _put_site(mlir.ir, call, attributes.site)
        return results

    mlir.register_lowering(ffi.ffi_call_p, lower_with_site)


def _custom_call(ir: Any, results: Sequence[Any], target: str) -> Any:
    """The custom call just built: the owner of its results, or without results the newest one in the block."""
    candidates = [results[0].owner] if results else reversed(list(ir.InsertionPoint.current.block.operations))
    for candidate in candidates:
        operation = candidate.operation
        is_custom_call = operation.name == "stablehlo.custom_call"
        if is_custom_call and ir.StringAttr(operation.attributes["call_target_name"]).value == target:
            return operation
    return None


def _put_site(ir: Any, operation: Any, site: str) -> None:
    attributes = operation.attributes  # an MLIR attribute map, without get()
    entries = {}
    if _FRONTEND_ATTRIBUTES in attributes:
        entries = {entry.name: entry.attr for entry in attributes[_FRONTEND_ATTRIBUTES]}
    entries[FRONTEND_ATTRIBUTE] = ir.StringAttr.get(site)
    attributes[_FRONTEND_ATTRIBUTES] = ir.DictAttr.get(entries)
