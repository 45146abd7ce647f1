"""The active behaviours of each function. `on` attaches Python functions; `Behaviour.remove` detaches them."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import layer
from .abi import Function, functions, matching
from .calls import Call
from .dispatching import DispatchedCall

Implementation = Callable[..., object]

_lock = threading.RLock()
_attached: dict[int, tuple[Behaviour, ...]] = {}
_collecting: list[tuple[int, list[Behaviour]]] = []  # with the id of the thread that runs the block
_by_number: list[Function] = []


class Behaviour:
    """A Python function attached to functions of the table. It remains callable."""

    def __init__(self, function: Implementation) -> None:
        """Wrap a function without attaching it."""
        self.function = function
        code = inspect.unwrap(function).__code__ if hasattr(inspect.unwrap(function), "__code__") else None
        self.name = getattr(function, "__qualname__", type(function).__name__)
        """Its name in recordings and messages."""
        self.place = f"{Path(code.co_filename)}:{code.co_firstlineno}" if code else "?"
        """Its file and line."""

    def __call__(self, call: Call) -> object:
        """Run the function."""
        return self.function(call)

    def wants(self, call: Call) -> bool:
        """Whether the behaviour handles this call."""
        return True

    def remove(self) -> None:
        """Detach the behaviour from all functions. Calls that it already handles continue."""
        with _lock:
            for number, attached in list(_attached.items()):
                _set_attached(number, tuple(each for each in attached if each is not self))

    def __repr__(self) -> str:
        return f"<behaviour {self.name} ({self.place})>"


def on(*patterns: str) -> Callable[[Implementation | Behaviour], Behaviour]:
    """Run a Python function whenever one of these functions of the table is called: `@on("PJRT_Client_Compile")`.

    It receives a `Call`. A pattern may contain `*`, `?` and `[...]`. The first behaviour attached to a function is the
    outermost. Its `call.run()` runs the next one; the innermost `call.run()` runs the function itself.

    Raises ValueError if a pattern matches no function, TypeError if the Python function cannot be called with a `Call`.
    """
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise TypeError('name the functions: @on("PJRT_Client_Compile")')
    functions_by_number = {function.number: function for pattern in patterns for function in matching(pattern)}

    def attach(function: Implementation | Behaviour) -> Behaviour:
        behaviour = function if isinstance(function, Behaviour) else Behaviour(check_implementation(function))
        attach_to_functions(behaviour, functions_by_number)
        return behaviour

    return attach


@contextmanager
def collect_attached() -> Iterator[list[Behaviour]]:
    """Collect the behaviours attached within the block, in order. They stay attached.

    A thread with blocks of its own adds its behaviours only to those.
    """
    found: list[Behaviour] = []
    entry = threading.get_ident(), found
    with _lock:
        _collecting.append(entry)
    try:
        yield found
    finally:
        with _lock:
            _collecting[:] = [each for each in _collecting if each is not entry]


def dispatch(number: int, address: int) -> None:
    """Run the behaviours of a function on a call. The layer calls this."""
    behaviours = _attached.get(number, ())
    if behaviours:
        opened = layer.layer()
        DispatchedCall(_by_number[number], layer.Call(opened, address), behaviours).answer()


def attach_to_functions(behaviour: Behaviour, numbers: Iterable[int]) -> None:
    """Attach a behaviour to the functions with these numbers."""
    with _lock:
        if not _by_number:
            _by_number.extend(functions().values())
            layer.layer().set_dispatcher(dispatch)
        for number in numbers:
            _set_attached(number, (*_attached.get(number, ()), behaviour))
        own = [found for thread, found in _collecting if thread == threading.get_ident()]
        for found in own or [found for _, found in _collecting]:
            if behaviour not in found:
                found.append(behaviour)


def _set_attached(number: int, behaviours: tuple[Behaviour, ...]) -> None:
    if bool(behaviours) != bool(_attached.get(number)):
        layer.layer().watch(number, bool(behaviours))
    _attached[number] = behaviours


def check_implementation(function: Any) -> Implementation:
    """Return the function. Raises TypeError unless a plain call with a `Call` runs its body."""
    name = getattr(function, "__qualname__", repr(function))
    if not callable(function):
        raise TypeError(f"{name} is not callable: @on(...) decorates a function")
    if _is_coroutine_or_generator(function) or _is_coroutine_or_generator(type(function).__call__):
        raise TypeError(f"{name} is a coroutine or a generator: a behaviour must be a plain function")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise TypeError(f"{name} must accept the call as its only argument: def {name}(call)") from None
    except ValueError:  # a builtin function without a signature
        pass
    implementation: Implementation = function
    return implementation


def _is_coroutine_or_generator(function: object) -> bool:
    """Whether calling the function only creates a coroutine or a generator, without running its body."""
    kinds = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction
    return any(is_kind(function) for is_kind in kinds)
