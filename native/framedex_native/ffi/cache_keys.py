"""The parts of a program's key in JAX's persistent compilation cache, noted with the program.

JAX hashes the program, versions, options and devices one after the other. It reports each part to a function that logs
it (`jax._src.cache_key`), even if no cache is configured. A hash of each part shows later which of them differed.
"""

from __future__ import annotations

import functools
import hashlib
from threading import get_ident
from typing import Any

from .notes import ProgramNotes

_MARK = "_framedex_cache_keys"
_PROGRAM = "computation"  # JAX's name of the first part; its hash is expensive
_HASH_LENGTH = 16  # hex digits


def note_cache_keys(cache_key: Any, notes: ProgramNotes) -> None:
    """Add the key of each program that `jax._src.cache_key` computes to the note on that program."""
    log, get = getattr(cache_key, "_log_cache_key_hash", None), getattr(cache_key, "get", None)
    if log is None or get is None or hasattr(cache_key, _MARK):
        return
    setattr(cache_key, _MARK, get)
    parts: dict[int, list[tuple[str, str]]] = {}  # of the keys being computed, by thread

    @functools.wraps(log)
    def log_cache_key_hash(hash_so_far: Any, name: str, add_part: Any) -> None:
        try:
            of_thread = parts.get(get_ident())
            if of_thread is not None:
                of_thread.append((name, _hash_part(hash_so_far, name, add_part)))
        except Exception:  # on any failure the program must continue without this part
            pass
        log(hash_so_far, name, add_part)

    @functools.wraps(get)
    def get_key(*args: Any, **kwargs: Any) -> str:
        if not _has_folder(cache_key):
            return str(get(*args, **kwargs))
        parts[get_ident()] = []
        try:
            key: str = get(*args, **kwargs)
        finally:
            found = parts.pop(get_ident())
        notes.add(cache_key=found, cache_minimum_s=_find_minimum(cache_key))
        return key

    cache_key._log_cache_key_hash = log_cache_key_hash
    cache_key.get = get_key


def _has_folder(cache_key: Any) -> bool:
    """Return whether programs can be stored; true if unknown."""
    setting = getattr(cache_key.config, "compilation_cache_dir", None)
    return setting is None or getattr(setting, "value", "") not in (None, "")


def _find_minimum(cache_key: Any) -> float:
    """Return the compile time in seconds from which on JAX stores a program; 0 if unknown."""
    setting = getattr(cache_key.config, "persistent_cache_min_compile_time_secs", None)
    return float(getattr(setting, "value", 0))


def _hash_part(hash_so_far: Any, name: str, add_part: Any) -> str:
    """Return the hash of one part. The program is the first part, so that the hash so far is its own."""
    if name == _PROGRAM:
        return str(hash_so_far.hexdigest()[:_HASH_LENGTH])
    fresh = hashlib.sha256()
    add_part(fresh)
    return fresh.hexdigest()[:_HASH_LENGTH]
