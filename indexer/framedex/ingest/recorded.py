"""The binaries of captures, each opened once, and only if it still is the one that was recorded."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

from framedex.binaries import Binary
from framedex.captures import fingerprint_of
from framedex.model import Module
from framedex.sources import PathMap

Opened = tuple[Binary | None, tuple[str, ...]]
"""A binary, or None and why not, as sentences."""


class RecordedBinaries:
    """Opens binaries and keeps them, since captures of a project share them.

    `rules` lead to those that are elsewhere here.
    """

    def __init__(self, rules: PathMap | None = None) -> None:
        self._rules = rules or PathMap(())
        self._opened: dict[tuple[str, str], Opened] = {}

    def open(self, module: Module) -> Opened:
        """The binary of a module of a capture."""
        key = module.path, identity_of(module)
        if key not in self._opened:
            self._opened[key] = self._open(module)
        return self._opened[key]

    def named(self, path: str, identity: str) -> Binary | None:
        """The binary of a module in the index."""
        key = path, identity
        if key not in self._opened:
            # The index does not say which of the two the identity is; a build-id cannot be a fingerprint by chance.
            by_build_id = self._open(Module(path, 0, 0, identity, ""))
            self._opened[key] = by_build_id if by_build_id[0] else self._open(Module(path, 0, 0, None, identity))
        return self._opened[key][0]

    def _open(self, module: Module) -> Opened:
        opened = _open(module)
        here = None if opened[0] else self._rules.there(module.path)
        if here is None:
            return opened
        mapped = _open(replace(module, path=here))
        return mapped if mapped[0] else (None, (*opened[1], *mapped[1]))


def identity_of(module: Module) -> str:
    """What tells a binary from others that were at its path."""
    return module.build_id or module.fingerprint


def _open(module: Module) -> Opened:
    """The binary, if the file on disk is the one that was recorded; otherwise None and the reason."""
    path = Path(module.path)
    trouble = _why_unreadable(path)
    if trouble is None:
        binary = Binary.open(path)
        trouble = _why_another(binary, module)
        if trouble is None:
            return binary, ()
    return None, (f"{module.path} {trouble}: its frames stay as module and offset.",)


def _why_unreadable(path: Path) -> str | None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "is not on this machine"
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no path at all, such as a zero byte
        return "is not on this machine"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None


def _why_another(binary: Binary, module: Module) -> str | None:
    if module.build_id is not None:
        return None if binary.build_id == module.build_id else "has changed since it was recorded"
    if not module.fingerprint:
        return "could not be read when it was recorded"
    fingerprint = fingerprint_of(binary.path)
    if not fingerprint:
        return "cannot be read"
    return None if fingerprint == module.fingerprint else "has changed since it was recorded"
