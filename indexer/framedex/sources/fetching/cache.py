"""The cache of fetched sources: `framedex/sources/COMPONENT` in the user's cache folder, shared by all projects.

A component's folder has its objects (`objects.git`), a checkout or a source map for each commit, named after it, and a
lock held during a fetch. Checkouts are source folders of indexes, so nothing is removed automatically.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.folders import user_folder
from framedex.sources.releases.roots import is_commit
from framedex.sources.source_map import ENDING

_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class CachedComponent:
    """The cached data of a component: its checkouts and source maps, by commit, and the total size in bytes."""

    component: str
    checkouts: tuple[Path, ...]
    maps: tuple[Path, ...]
    size: int


@dataclass(frozen=True, slots=True)
class SourceCache:
    """The cache in a folder."""

    folder: Path

    @classmethod
    def default(cls) -> SourceCache:
        """Return the user's cache. Raises FramedexError if the home folder is unknown."""
        cache = user_folder("XDG_CACHE_HOME")
        if cache is None:
            raise FramedexError("There is no cache folder, because the home folder is unknown.", "Set XDG_CACHE_HOME.")
        return cls(cache / "framedex" / "sources")

    def checkout(self, component: str, commit: str) -> Path:
        """Return the folder of a commit's checkout, which may not exist yet."""
        return self.folder / component / commit

    def source_map(self, component: str, commit: str) -> Path:
        """Return the file of a commit's source map, which may not exist yet."""
        return self.folder / component / f"{commit}{ENDING}"

    def store(self, component: str) -> Path:
        """Return the folder of a component's objects."""
        return self.folder / component / "objects.git"

    def other_checkouts(self, checkout: Path, folders: list[str]) -> list[str]:
        """Return the folders that are other checkouts of the same component in this cache."""
        beside = checkout.parent
        return [each for each in folders if Path(each).parent == beside and Path(each) != checkout]

    def components(self) -> list[CachedComponent]:
        """Return the cached components."""
        found = []
        with suppress(OSError):
            for folder in sorted(each for each in self.folder.iterdir() if each.is_dir()):
                checkouts = tuple(sorted(each for each in folder.iterdir() if is_commit(each.name)))
                maps = tuple(sorted(folder.glob(f"*{ENDING}")))
                found.append(CachedComponent(folder.name, checkouts, maps, _measure_disk_usage(folder)))
        return found

    def remove(self, component: str) -> None:
        """Delete all cached data of a component. Raises OSError."""
        folder = self.folder / component
        for inside in sorted(folder.iterdir()):
            if inside.name != _LOCK:  # the caller holds the lock, and other processes may wait for it
                shutil.rmtree(inside) if inside.is_dir() else inside.unlink()

    @contextmanager
    def lock_component(self, component: str, waiting: Callable[[], object]) -> Iterator[int]:
        """Hold a component's lock, and yield its descriptor. `waiting` is called before blocking on another process.

        Raises FramedexError if the cache is not writable.
        """
        import fcntl  # missing on Windows, where `framedex sources` still reads the cache

        folder = self.folder / component
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FramedexError(
                f"{folder} cannot be written: {error.strerror or error}.",
                "Set XDG_CACHE_HOME to another folder.",
            ) from error
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield lock
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # also for processes left running by git
            os.close(lock)


def _measure_disk_usage(folder: Path) -> int:
    together = 0
    for inside, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                together += os.lstat(Path(inside, name)).st_blocks * 512
    return together
