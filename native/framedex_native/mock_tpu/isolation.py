"""Isolates the mock's own use of JAX from the program: the program's settings and listeners do not apply to it."""

from __future__ import annotations

import threading
from collections import UserList
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from jax._src import config, monitoring

# Values of JAX's settings for the mock's own lowerings. JAX releases differ in the settings that they have.
_SETTINGS = {
    "enable_x64": True,
    "check_tracer_leaks": False,
    "debug_infs": False,
    "debug_key_reuse": False,
    "debug_nans": False,
    "default_matmul_precision": None,
    "disable_jit": False,
    "enable_checks": False,
    "explain_cache_misses": False,
    "log_compiles": False,
    "no_tracing": False,
    "numpy_dtype_promotion": "standard",
    "numpy_rank_promotion": "allow",
}
_LISTENERS = (
    "_event_listeners",
    "_event_duration_secs_listeners",
    "_event_time_span_listeners",
    "_scalar_listeners",
)
_thread = threading.local()


class _Listeners(UserList[Callable[..., None]]):
    """JAX's list of the listeners of one kind. It appears empty on an isolated thread."""

    def __init__(self, known: list[Callable[..., None]]) -> None:
        super().__init__()
        self.data = known  # not a copy: another thread may be adding to it

    def __iter__(self) -> Iterator[Callable[..., None]]:
        return iter(()) if getattr(_thread, "is_isolated", False) else super().__iter__()


@contextmanager
def isolated() -> Iterator[None]:
    """A context in which JAX on this thread uses the mock's settings and calls no listeners."""
    for name in _LISTENERS:
        known: Any = getattr(monitoring, name, None)  # clear_event_listeners() replaces the lists
        if known is not None and not isinstance(known, _Listeners):
            setattr(monitoring, name, _Listeners(known))
    with ExitStack() as contexts:
        for name, value in _SETTINGS.items():
            if (setting := getattr(config, name, None)) is not None:
                contexts.enter_context(setting(value))
        contexts.callback(setattr, _thread, "is_isolated", getattr(_thread, "is_isolated", False))
        _thread.is_isolated = True
        yield
