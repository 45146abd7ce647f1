"""What stands on which function: Python functions are put on by `on`, and taken away again."""

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
from .dispatching import Dispatched

Implementation = Callable[..., object]

_lock = threading.RLock()
_standing: dict[int, tuple[Behaviour, ...]] = {}
_collecting: list[tuple[int, list[Behaviour]]] = []  # with the thread whose block it is
_by_number: list[Function] = []


class Behaviour:
    """A Python function that stands on functions of the table. It can still be called as what it is."""

    def __init__(self, function: Implementation) -> None:
        """It stands on nothing yet."""
        self.function = function
        code = inspect.unwrap(function).__code__ if hasattr(inspect.unwrap(function), "__code__") else None
        self.name = getattr(function, "__qualname__", type(function).__name__)
        """What it is called where it is recorded and told of."""
        self.place = f"{Path(code.co_filename)}:{code.co_firstlineno}" if code else "?"
        """Its file and line."""

    def __call__(self, call: Call) -> object:
        """Run the function."""
        return self.function(call)

    def wants(self, call: Call) -> bool:
        """Whether it is to see this call of one of its functions."""
        return True

    def remove(self) -> None:
        """Let it stand on nothing any more; calls that it has in its hands it goes on with."""
        with _lock:
            for number, standing in list(_standing.items()):
                _set_standing(number, tuple(each for each in standing if each is not self))

    def __repr__(self) -> str:
        return f"<behaviour {self.name} ({self.place})>"


def on(*patterns: str) -> Callable[[Implementation | Behaviour], Behaviour]:
    """Have a function run whenever one of these functions of the table is called: `@on("PJRT_Client_Compile")`.

    It gets a `Call`. A pattern may have `*`, `?` and `[...]`. Of several behaviours on one function the first one that
    was put there is the outermost: its `call.run()` runs the next, that of the last what would happen without them.

    Raises ValueError for a name that no function has, and TypeError for what cannot be called with a `Call`.
    """
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise TypeError('name the functions: @on("PJRT_Client_Compile")')
    chosen = {function.number: function for pattern in patterns for function in matching(pattern)}

    def put(function: Implementation | Behaviour) -> Behaviour:
        behaviour = function if isinstance(function, Behaviour) else Behaviour(checked(function))
        stand(behaviour, chosen)
        return behaviour

    return put


@contextmanager
def collected() -> Iterator[list[Behaviour]]:
    """The behaviours that are put on within the block, in the order written; they stay.

    Those of a thread that has blocks of its own are of these alone.
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
    """Have the behaviours of a function answer a call. For the layer."""
    behaviours = _standing.get(number, ())
    if behaviours:
        opened = layer.layer()
        Dispatched(_by_number[number], layer.Call(opened, address), behaviours).answer()


def stand(behaviour: Behaviour, numbers: Iterable[int]) -> None:
    """Let a behaviour stand on the functions of these numbers."""
    with _lock:
        if not _by_number:
            _by_number.extend(functions().values())
            layer.layer().set_dispatcher(dispatch)
        for number in numbers:
            _set_standing(number, (*_standing.get(number, ()), behaviour))
        own = [found for thread, found in _collecting if thread == threading.get_ident()]
        for found in own or [found for _, found in _collecting]:
            if behaviour not in found:
                found.append(behaviour)


def _set_standing(number: int, behaviours: tuple[Behaviour, ...]) -> None:
    if bool(behaviours) != bool(_standing.get(number)):
        layer.layer().watch(number, bool(behaviours))
    _standing[number] = behaviours


def checked(function: Any) -> Implementation:
    """The function. Raises TypeError where it cannot be called with a `Call`, and have its work done by that."""
    name = getattr(function, "__qualname__", repr(function))
    if not callable(function):
        raise TypeError(f"{name} cannot be called: @on(...) stands above a function")
    if _only_begins(function) or _only_begins(type(function).__call__):
        raise TypeError(f"{name} is a coroutine or a generator: a behaviour has to be a plain function")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise TypeError(f"{name} has to take the call as its one argument: def {name}(call)") from None
    except ValueError:  # a builtin function that does not say what it takes
        pass
    implementation: Implementation = function
    return implementation


def _only_begins(function: object) -> bool:
    """Whether a call gives a coroutine or a generator, and nothing has run yet."""
    kinds = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction
    return any(is_kind(function) for is_kind in kinds)
