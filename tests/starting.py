"""Tests that start a Python, found by the code that they reach: `make quick` skips them.

Such tests run a program on the mock TPU, a server, the command line in its own process, or an editor with a server.
Each is started by the path of this Python, of another one, or of a program beside it. So a test counts if it, its
fixtures, or their callees in tests/ mention `sys.executable` or a program of that folder.
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
"""Objects by their id that lead to no Python. The dictionary keeps them alive, so that no id is reused."""


def starts_a_python(test: pytest.Function) -> bool:
    """Whether a test starts a Python, or a program of this one's environment."""
    fixtures = [definition.func for definition in _fixtures(test)]
    return any(_mentions_a_python(part) for part in (test.function, *fixtures))


def _fixtures(test: pytest.Function) -> Iterator[pytest.FixtureDef[Any]]:
    """The fixtures that a test's parameters name, or those passed to `request.getfixturevalue`."""
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
    """The objects that a function mentions, a class defines or a collection holds; empty for those outside tests/."""
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
    """The values of global names in a function's code; for modules of tests/, also the members that it may use."""
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
