"""Which tests start a Python, read off the code that they reach: `make quick` leaves those out.

A program on the mock TPU, a server, the command line in a process of its own, an editor that talks to a server: each
is started with the path of this Python, of another one, or of a program beside it. So a test is held to start one if
it, one of its fixtures, or what of tests/ they call, mentions `sys.executable` or something of that folder.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

ENVIRONMENT = str(Path(sys.executable).parent)
OURS = __name__.partition(".")[0]
_without_a_python: dict[int, object] = {}
"""Objects by their id that reach no Python. The dictionary keeps them alive, so that no id is reused."""


def starts_a_python(test: pytest.Function) -> bool:
    """Whether a test starts a Python, or a program of the environment of this one."""
    fixtures = [definition.func for definition in _fixtures(test)]
    return any(_mentions_a_python(part) for part in (test.function, *fixtures))


def _fixtures(test: pytest.Function) -> Iterator[pytest.FixtureDef[Any]]:
    """The fixtures of a test, those among them that its parameters name, for `request.getfixturevalue`."""
    for definitions in test._fixtureinfo.name2fixturedefs.values():
        yield from definitions
    parameters = test.callspec.params.values() if hasattr(test, "callspec") else ()
    for name in parameters:
        if isinstance(name, str):
            yield from test.session._fixturemanager.getfixturedefs(name, test) or ()


def _mentions_a_python(part: object) -> bool:
    seen: dict[int, object] = {}
    left = [part]
    while left:
        value = left.pop()
        if id(value) in seen or id(value) in _without_a_python:
            continue
        if value is sys.executable or (isinstance(value, str | Path) and str(value).startswith(ENVIRONMENT)):
            return True
        seen[id(value)] = value
        left += _reached_from(value)
    _without_a_python.update(seen)
    return False


def _reached_from(value: object) -> Iterator[object]:
    """What a function mentions, a class defines, a collection holds; of others than those of tests/ nothing."""
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, Sequence | Set) and not isinstance(value, str | bytes):
        yield from value
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, property):
        yield value.fget
    elif isinstance(value, functools.cached_property):
        yield value.func
    elif isinstance(value, classmethod | staticmethod):
        yield value.__func__
    elif not _is_ours(value):
        return
    elif isinstance(value, type):
        yield from vars(value).values()
        yield from value.__mro__[1:]
    else:
        function = inspect.unwrap(value) if callable(value) else None
        if isinstance(function, FunctionType):
            yield from _mentioned(function.__code__, function.__globals__)
            yield from (function.__defaults__ or (), function.__kwdefaults__ or {})
            yield from (cell.cell_contents for cell in function.__closure__ or ())


def _mentioned(code: CodeType, names: dict[str, Any]) -> Iterator[object]:
    """The values of the global names in a function's code; of modules, of those of tests/ that it imports too, what
    it may name of them."""
    for name in code.co_names:
        value = names.get(name, sys.modules.get(name))
        if not isinstance(value, ModuleType):
            yield value
        elif value is sys or _is_ours(value):
            yield from (vars(value)[other] for other in code.co_names if other in vars(value))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _mentioned(constant, names)


def _is_ours(value: object) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(name, str) and name.partition(".")[0] == OURS
