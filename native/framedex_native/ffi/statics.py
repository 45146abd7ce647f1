"""Static arguments as text, without running code of theirs but for the hash that JAX asks of them, too."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_LONGEST = 80  # characters of one value
_MOST = 8  # elements, or fields
_DEEPEST = 3
_PLAIN = (int, float, complex, bool, type(None), type(Ellipsis), range)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def statics(
    args: Sequence[Any], kwargs: Mapping[str, Any], numbers: Sequence[int], names: Sequence[str], signature: Any
) -> list[tuple[str, str]]:
    """The names of the static arguments among those that were given, and their values as text."""
    parameters = list(getattr(signature, "parameters", ()))
    found = {}
    for number in numbers:
        place = number if number >= 0 else len(args) + number
        if 0 <= place < len(args):
            found[parameters[place] if place < len(parameters) else f"argument {place}"] = args[place]
    found.update((name, kwargs[name]) for name in names if name in kwargs)
    return [(name, text(value)) for name, value in found.items()]


def text(value: Any, depth: int = 0) -> str:
    """A value as people write it; of a type that is not known here the type, and a number that tells values apart."""
    return _cut(_text(value, depth))


def _text(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind in (str, bytes):
        return repr(value[:_LONGEST])
    if issubclass(kind, enum.Enum):
        return f"{_name(kind)}.{object.__getattribute__(value, '_name_')}"
    if kind in (tuple, frozenset) and depth < _DEEPEST:
        return f"{'' if kind is tuple else 'frozenset'}({', '.join(_elements(value, depth))})"
    if kind is slice and depth < _DEEPEST:
        return f"slice({', '.join(_elements((value.start, value.stop, value.step), depth))})"
    if issubclass(kind, type):
        return _name(value)
    if kind in _FUNCTIONS:
        return _function(value)
    package = str(type.__getattribute__(kind, "__module__")).partition(".")[0]
    if package == "numpy":
        return str(value)
    if package == "jaxlib" and _name(kind) == "PjitFunction":
        return _function(value)
    if kind is functools.partial:
        return f"partial({', '.join(_elements((value.func, *value.args), depth))}){_number(value)}"
    fields = _fields(value)
    if fields is not None and depth < _DEEPEST:
        shown = [f"{name}={text(each, depth + 1)}" for name, each in fields[:_MOST]]
        return f"{_name(kind)}({', '.join([*shown, *(['...'] if len(fields) > _MOST else [])])})"
    return f"{_name(kind)}{_number(value)}"


def _elements(values: Any, depth: int) -> Iterator[str]:
    for place, each in enumerate(values):
        if place == _MOST:
            yield "..."
            return
        yield text(each, depth + 1)


def _function(value: Any) -> str:
    """A function: those that are made again and again have one name."""
    name = str(value.__qualname__)
    return f"{name}{_number(value)}" if "<" in name or type(value) is types.MethodType else name


def _fields(value: Any) -> list[tuple[str, Any]] | None:
    """The fields of a dataclass with their values as they are kept; None where it is none."""
    described = _attribute(type(value), "__dataclass_fields__")
    try:
        kept = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return None if type(described) is not dict else [(name, kept[name]) for name in described if name in kept]


def _attribute(kind: type, name: str) -> Any:
    return next((vars(base)[name] for base in type.__getattribute__(kind, "__mro__") if name in vars(base)), None)


def _name(kind: type) -> str:
    return str(type.__getattribute__(kind, "__name__"))


def _number(value: Any) -> str:
    """Equal for what JAX takes for equal, and for little else; empty where JAX has asked for no hash and there is none.

    That is so of what equality leaves out: a field of a dataclass with `compare=False`, an argument of a partial.
    """
    try:
        return f" #{hash(value) & 0xFFFFFF:06x}"
    except TypeError:
        return ""


def _cut(written: str) -> str:
    return written if len(written) <= _LONGEST else f"{written[: _LONGEST - 3]}..."
