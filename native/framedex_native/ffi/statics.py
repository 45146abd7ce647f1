"""Static arguments as text, without running their code, except for the hash that JAX also computes."""

from __future__ import annotations

import contextlib
import enum
import functools
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_MAX_VALUE_LENGTH = 80  # characters per value
_MAX_ELEMENTS = 8  # elements or fields
_MAX_DEPTH = 3
_PLAIN = (int, float, complex, bool, type(None), type(Ellipsis), range)
_READABLE = ("AbstractMesh", "Mesh", "NamedSharding", "P", "PartitionSpec", "ShapeDtypeStruct")  # of JAX
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def static_arguments(
    args: Sequence[Any], kwargs: Mapping[str, Any], numbers: Sequence[int], names: Sequence[str], signature: Any
) -> dict[str, Any]:
    """The values of the static arguments in a call, by name."""
    parameters = list(getattr(signature, "parameters", ()))
    found = {}
    for number in numbers:
        place = number if number >= 0 else len(args) + number
        if 0 <= place < len(args):
            found[parameters[place] if place < len(parameters) else f"argument {place}"] = args[place]
    found.update((name, kwargs[name]) for name in names if name in kwargs)
    return found


def text(value: Any, depth: int = 0) -> str:
    """A readable text of a value. Values of unknown types appear as the type with a distinguishing number."""
    return _cut(_text(value, depth))


def _text(value: Any, depth: int) -> str:
    kind = type(value)
    # By identity: the metaclass of a program's class may compare with its own code.
    if _is_one_of(kind, _PLAIN):
        return repr(value)
    if kind is str or kind is bytes:
        return repr(value) if len(value) <= _MAX_VALUE_LENGTH else f"{value[:_MAX_VALUE_LENGTH]!r}{_number(value)}"
    if issubclass(kind, enum.Enum):
        return f"{_name(kind)}.{object.__getattribute__(value, '_name_')}"
    if (contents := _contents(value, depth)) is not None:
        return contents
    if issubclass(kind, type):
        return _name(value)
    package = _package(kind)
    if _is_one_of(kind, _FUNCTIONS) or (package == "jaxlib" and _name(kind) == "PjitFunction"):
        return _function(value)
    if _name(kind) in ("ClosedJaxpr", "Jaxpr") and package == "jax":
        info = getattr(getattr(value, "jaxpr", value), "debug_info", None)
        name, _, place = str(getattr(info, "func_src_info", None) or _name(kind)).partition(" at ")
        return f"{name}{' at ' if place else ''}{place.rpartition('/')[2]}{_number(value)}"
    if package == "numpy":
        return str(value)
    if package == "jax" and _name(kind) in _READABLE:
        written = str(value)
        return written if len(written) <= _MAX_VALUE_LENGTH else f"{written}{_number(value)}"
    fields = field_values(value)
    if fields is not None and depth < _MAX_DEPTH:
        shown = [f"{name}={text(each, depth + 1)}" for name, each in fields[:_MAX_ELEMENTS]]
        number = _number(value) if compares_by_identity(kind) else ""
        return f"{_name(kind)}({', '.join([*shown, *(['...'] if len(fields) > _MAX_ELEMENTS else [])])}){number}"
    return f"{_name(kind)}{_number(value)}"


def _contents(value: Any, depth: int) -> str | None:
    """The text of a tuple, frozen set, slice or partial with its elements; None for other values or if too deep."""
    kind = type(value)
    if kind is functools.partial:
        return f"partial({', '.join(_elements((value.func, *value.args), depth))}){_number(value)}"
    if kind is slice and depth < _MAX_DEPTH:
        return f"slice({', '.join(_elements((value.start, value.stop, value.step), depth))})"
    if (kind is tuple or kind is frozenset) and depth < _MAX_DEPTH:
        comma = "," if len(value) == 1 and kind is tuple else ""
        rest = _number(value) if len(value) > _MAX_ELEMENTS else ""
        return f"{'' if kind is tuple else 'frozenset'}({', '.join(_elements(value, depth))}{comma}){rest}"
    return None


def _is_one_of(kind: type, kinds: Sequence[type]) -> bool:
    return any(kind is each for each in kinds)


def _elements(values: Any, depth: int) -> Iterator[str]:
    for place, each in enumerate(values):
        if place == _MAX_ELEMENTS:
            yield "..."
            return
        yield text(each, depth + 1)


def _function(value: Any) -> str:
    """The name of a function, with a distinguishing number for lambdas, nested functions and methods."""
    name = str(value.__qualname__)
    return f"{name}{_number(value)}" if "<" in name or type(value) is types.MethodType else name


def field_values(value: Any) -> list[tuple[str, Any]] | None:
    """The stored fields of a dataclass with their values; None if it is not a dataclass."""
    described = class_attribute(type(value), "__dataclass_fields__")
    if type(described) is not dict or issubclass(type(value), type):
        return None
    try:
        stored = object.__getattribute__(value, "__dict__")
    except AttributeError:
        stored = {}
    found = []
    for name in described:
        slot = class_attribute(type(value), name)
        if name in stored:
            found.append((name, stored[name]))
        elif type(slot) is types.MemberDescriptorType:
            with contextlib.suppress(AttributeError):  # never assigned
                found.append((name, slot.__get__(value)))
    return found


def compares_by_identity(kind: type) -> bool:
    """Whether two objects of a class are never equal, as those of a dataclass with `eq=False`."""
    return class_attribute(kind, "__eq__") is object.__eq__


def class_attribute(kind: type, name: str) -> Any:
    """An attribute of a class as it is stored, without running its code; None if missing."""
    return next((vars(base)[name] for base in type.__getattribute__(kind, "__mro__") if name in vars(base)), None)


def _package(kind: type) -> str:
    return str(type.__getattribute__(kind, "__module__")).partition(".")[0]


def _name(kind: type) -> str:
    return str(type.__getattribute__(kind, "__name__"))


def _number(value: Any) -> str:
    """A short hash that is equal for values that JAX considers equal; an empty string for unhashable values.

    JAX does not hash parts that equality ignores, such as a field with `compare=False` or an argument of a partial.
    """
    try:
        return f" #{hash(value) & 0xFFFFFF:06x}"
    except TypeError:
        return ""


def _cut(text: str) -> str:
    """Truncate a text to `_MAX_VALUE_LENGTH` characters, but keep a distinguishing number."""
    if len(text) <= _MAX_VALUE_LENGTH:
        return text
    start, mark, number = text.rpartition(" #")
    if not mark or not number.isalnum():
        return f"{text[: _MAX_VALUE_LENGTH - 3]}..."
    return f"{start[: _MAX_VALUE_LENGTH - len(number) - 5]}... #{number}"
