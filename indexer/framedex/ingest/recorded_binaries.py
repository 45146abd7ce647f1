"""The binaries of captures, each opened once, and only if it is the recorded one.

A binary is searched for at the recorded path, among the kept copies, and by the path rules of the settings. A file in
its recorded state is the recorded file. Any other file must have the recorded build-id and fingerprint. If the
fingerprint covers only samples, the digest of the whole content must match, too. If no digest is known, the file is
used with a note.
"""

from __future__ import annotations

import re
import shlex
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.regularfile import open_regular
from framedex.base.words import count
from framedex.binaries import Binary, BinaryStore, DigestCache, classify_native_frame, read_binary_state
from framedex.captures import compute_fingerprint
from framedex.index.file.values import to_storable
from framedex.index.write.records import NamedBinary, NameSource
from framedex.model import BinaryId, FrameRole, Module
from framedex.path_resolution.files import PathMap
from framedex.texts.captures import UNNAMED_FRAMES

if TYPE_CHECKING:  # rarely needed
    from framedex.binaries.debuginfod import Debuginfod


Opened = tuple[Binary | None, tuple[str, ...]]
"""A binary with notes about it, as sentences; or None and the reason, such as `FILE is not on this machine`."""

_FULLY_HASHED_BYTES = 64 * 4096  # bytes: the fingerprint of a file up to this size covers all of it


class RecordedBinaries:
    """Opens binaries and caches them, since captures of a project share them.

    `rules` map paths of another machine to local binaries, `kept` has copies of the binaries recorded here, and
    `debuginfod` provides debug files. `digests` are the content digests stored in the index.
    """

    def __init__(
        self,
        rules: PathMap | None = None,
        contents: DigestCache | None = None,
        debuginfod: Debuginfod | None = None,
        kept: BinaryStore | None = None,
        digests: Mapping[BinaryId, str] | None = None,
    ) -> None:
        self._rules = rules or PathMap(())
        self._contents = contents or DigestCache()
        self._debuginfod = debuginfod
        self._stored = kept
        self._digests = digests or {}
        self._opened: dict[BinaryId, Opened] = {}

    def open(self, module: Module) -> Opened:
        """Return the binary of a capture's module, or the reason why it is missing."""
        if module.id not in self._opened:
            self._opened[module.id] = self._open(module)
        return self._opened[module.id]

    def find_names_source(self, module: Module) -> NameSource:
        """Return the current source of the names of a module's functions."""
        binary, _ = self.open(module)
        if binary is None:
            return NameSource.NOTHING
        return NameSource.DEBUG_INFORMATION if binary.has_debug_information else NameSource.SYMBOLS

    def describe_binary(self, module: Module) -> NamedBinary:
        """Return a capture's module as the index stores it."""
        binary = module.id._replace(path=to_storable(module.path))
        return NamedBinary(binary, self._recorded_digest(module), self.find_names_source(module))

    def fetch_debug_files(self, modules: Iterable[Module]) -> None:
        """Download the missing debug files of these modules' binaries, before their functions are looked up."""
        if self._debuginfod is None:
            return
        for module in modules:
            binary, _ = self.open(module)
            if binary is not None and (build_id := binary.missing_debug_file):
                self._debuginfod.fetch(build_id, Path(module.path).name)

    def open_known(self, known: BinaryId) -> Binary | None:
        """Return the binary of a module in the index; None if missing."""
        return self.open(self.make_module(known))[0]

    def make_module(self, known: BinaryId) -> Module:
        """Return a binary in the index as a module of a capture."""
        return Module(known.path, 0, 0, known.build_id or None, known.fingerprint, content=self._digests.get(known, ""))

    def _open(self, module: Module) -> Opened:
        path = Path(module.path)
        opened = self._open_path(path, module)
        if opened[0]:
            self._copy_binary(path)
            return opened
        if kept_copy := self._open_stored_copy(module):
            return kept_copy
        mapped_path = self._rules.apply(module.path)
        if mapped_path is None:
            return opened
        mapped = self._open_path(Path(mapped_path), module)
        return mapped if mapped[0] else (None, (*opened[1], *mapped[1]))

    def _copy_binary(self, path: Path) -> None:
        """Keep a copy of a binary. Programs not started by framedex do not copy their binaries."""
        if self._stored is not None and (digest := self._contents.compute_digest(path)):
            self._stored.keep(path, digest)

    def _open_stored_copy(self, module: Module) -> Opened | None:
        digest = self._recorded_digest(module)
        if self._stored is None or (copy := self._stored.find(digest)) is None:
            return None
        opened = self._open_path(copy, module)
        if opened[0] is None or self._contents.compute_digest(copy) != digest:
            self._stored.remove(copy)
            return None
        return opened

    def _recorded_digest(self, module: Module) -> str:
        """Return the SHA-256 of the recorded content; empty if unknown."""
        if module.content or module.file is None:
            return module.content
        return self._contents.find_digest(Path(module.path), module.file)

    def _open_path(self, path: Path, module: Module) -> Opened:
        """Return the binary if the file on disk is the recorded one; otherwise None and the reason."""
        problem = _explain_unreadable(path)
        if problem is None:
            binary = Binary.open(path)
            problem = _explain_difference(binary, module)
            if problem is None:
                problem, notes = self._compare_contents(path, module)
                if problem is None:
                    return binary, notes
        return None, (f"{path} {problem}",)

    def _compare_contents(self, path: Path, module: Module) -> tuple[str | None, tuple[str, ...]]:
        """Return how a file with the recorded build-id and fingerprint was changed (None: it was not), and notes."""
        recorded = self._recorded_digest(module)
        if path.stat().st_size <= _FULLY_HASHED_BYTES or (module.file is None and not recorded):
            return None, ()
        if str(path) == module.path and read_binary_state(path) == module.file:
            if not recorded:
                self._contents.compute_digest(path)  # the digest proves its identity when it is installed again
            return None, ()
        if not recorded:
            return None, (
                f"{path} was written or moved after it was recorded, and its content cannot be verified: names in it"
                " may be wrong. Record the program again with `framedex run SCRIPT` to be sure.",
            )
        return None if self._contents.compute_digest(path) == recorded else "has changed since it was recorded", ()


def _explain_unreadable(path: Path) -> str | None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "is not on this machine"
        open_regular(path).close()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: an invalid path
        return "is not on this machine"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None


def _explain_difference(binary: Binary, module: Module) -> str | None:
    if module.build_id is not None and binary.build_id != module.build_id:
        return "has changed since it was recorded"
    if not module.fingerprint:
        return None if module.build_id is not None else "could not be read when it was recorded"
    fingerprint = compute_fingerprint(binary.path)
    if not fingerprint:
        return "cannot be read"
    return None if fingerprint == module.fingerprint else "has changed since it was recorded"


_PACKAGE = re.compile(r"(?P<prefix>/.*)/lib(?:64)?/python\d+\.\d+/(?:site|dist)-packages/(?P<package>[\w-]+)/")


def describe_missing_binary(path: str, reasons: tuple[str, ...], packages: Mapping[str, str]) -> str:
    """Return the message about a recorded binary that cannot be opened, with the reasons and the remedy.

    `packages` has the versions of the program's packages.
    """
    if not path.startswith("/"):  # the kernel's own code, `[vdso]`
        return f"{'; '.join(reasons)}: {UNNAMED_FRAMES}"
    remedy = f"{_format_reinstall_remedy(path, packages)}, and run `framedex index`"
    return f"{'; '.join(reasons)}. {remedy}; until then {UNNAMED_FRAMES}"


def _format_reinstall_remedy(path: str, packages: Mapping[str, str]) -> str:
    again = "record the program again"
    found = _PACKAGE.match(path)
    version = packages.get(found["package"]) if found else None
    if found is None or version is None:
        return f"Restore the recorded file, map its path (path-map in framedex.toml), or {again}"
    return f"Restore the recorded file (`{_install_command(found, version)}`), or {again}"


def _install_command(found: re.Match[str], version: str) -> str:
    python = Path(found["prefix"], "bin", "python")
    requirement = shlex.quote(f"{found['package']}=={version}")
    if not python.is_file():
        return f"pip install {requirement}"
    if Path(found[0]).with_name("pip").is_dir():
        return f"{shlex.quote(str(python))} -m pip install {requirement}"
    return f"uv pip install --python {shlex.quote(str(python))} {requirement}"  # uv's environments have no pip


_DEBUG_FILES = "/usr/lib/debug/.build-id"
_SYSTEM_LIBRARY = re.compile(r"(?:/usr)?/lib(?:32|64)?/(?:[\w-]+-linux-gnu\w*/)?[^/]+")


def describe_unnamed_frames(binary: Binary, path: str, frames: int, unnamed: int) -> str | None:
    """Return why a binary's recorded frames have no name; None if missing symbols are not the reason.

    The interpreter and the system's own libraries are not reported. Every system strips them, and their unnamed frames
    are internal steps on the way in.
    """
    is_of_others = classify_native_frame(path, "") is FrameRole.CODE and not _SYSTEM_LIBRARY.fullmatch(path)
    if not unnamed or not is_of_others or not binary.is_stripped:
        return None
    unnamed_text = f"{unnamed:,} of its {count(frames, 'recorded frame')} {'has' if unnamed == 1 else 'have'} no name"
    return f"{path} is stripped: {unnamed_text}. {_suggest_debug_files(binary)} {UNNAMED_FRAMES}"


def _suggest_debug_files(binary: Binary) -> str:
    then = "and run `framedex index`; until then"
    if binary.build_id:
        place = f"{_DEBUG_FILES}/{binary.build_id[:2]}/{binary.build_id[2:]}.debug"
        return f"Put its debug file at {place}, or name a server that has it in DEBUGINFOD_URLS, {then}"
    if binary.debug_link:
        return f"Put its debug file {binary.debug_link} beside it {then}"
    return (
        "No debug file can be found for it, as it has neither a build-id nor a debug link: record with a build that has"
        " symbols; until then"
    )
