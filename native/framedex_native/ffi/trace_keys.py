"""The facts, besides types, by which JAX decides whether it has traced a function before.

JAX retraces and recompiles if one of these differs: the function object, an argument's pytree structure or static data,
an eager primitive's parameter, a setting. The facts become text, with a number for objects without a readable value.
Extraction runs no code of the program and keeps no object alive. It reads structures from the tree definitions that JAX
made for its own cache.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
import sys
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .statics import class_attribute, compares_by_identity, field_values, text

THE_CALL = "the call"
"""The subject of the fact about passing arguments by position or by name."""

OF_JAX = " of JAX"
"""Follows the name of a function that JAX creates itself for each call outside of `jax.jit`."""

MAX_FACTS = 300
"""The maximum number of facts about structures. A larger argument adds one hash of the rest."""

Fact = tuple[str, str, str]
"""(kind, subject, value).

The kinds: `function`, `parameter`, `structure`, `container` (a list or tuple with elements), `static data`, `static
argument`, `setting`, and `usual setting` (the value at the first trace).
"""

_JAXPR = re.compile(r"(?: at \S+:\d+|Jaxpr) #")  # a traced function in the output of `text`
_MAX_DEPTH = 8  # levels of static data
_NEAR = 4  # maximum frames between a function's description and the parsing of its arguments
_numbers = itertools.count(1)
_serials: dict[int, tuple[weakref.ref[Any], int]] = {}  # by the address of the object, which may be gone
_settings_at_first: dict[str, str] = {}
_settings_now: tuple[Any, list[Fact]] = (None, [])


def trace_keys(fun: Any, names: Sequence[str], long_static: Mapping[str, Any]) -> list[Fact]:
    """The facts about a function about to be traced, called from `jax._src.pjit.debug_info`.

    `names` are the names of its positional arguments, without static ones. `long_static` has the static arguments whose
    text is cut, by name. For a function that applies a single primitive, the facts are the primitive's parameters.
    """
    if type(fun) is types.FunctionType and "_apply_primitive" in vars(fun):
        return [*_parameters(fun), *_settings()]
    return [("function", "", _identity(fun)), *_structures(names, long_static), *_settings()]


def _parameters(fun: types.FunctionType) -> Iterator[Fact]:
    cells = dict(zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True))
    params = cells["params"].cell_contents if "params" in cells else {}
    for name, value in params.items():
        written = text(value)
        yield ("function" if _JAXPR.search(written) else "parameter"), name, written


def _identity(fun: Any) -> str:
    """The name of a function, with a number that is unique in this process."""
    kind = type(fun)
    if kind is functools.partial:
        return f"{text(fun).rpartition(' #')[0]}{_serial(fun)}"
    if kind is getattr(sys.modules.get("jax._src.util"), "HashablePartial", None):
        return f"{text(fun.f)}{OF_JAX}{_serial(fun)}"
    named = fun.__func__ if kind is types.MethodType else fun
    name = named.__qualname__ if type(named) is types.FunctionType else text(kind)
    return f"{name}{_serial(fun)}"


def _serial(value: Any) -> str:
    """The number of an object: by its address while it lives, because a hash would run the program's code."""
    known = _serials.get(id(value))
    if known is None or known[0]() is not value:
        try:
            known = weakref.ref(value), next(_numbers)
        except TypeError:  # without weak references
            return ""
        _serials[id(value)] = known
    return f" #{known[1]:06x}"


def _structures(names: Sequence[str], long_static: Mapping[str, Any]) -> Iterator[Fact]:
    """The parts of long static arguments, and other arguments' pytree nodes except plain dicts."""
    for name, value in long_static.items():
        parts = itertools.islice(_parts_of(name, value, 0), MAX_FACTS)
        yield from (("static argument", path, written) for path, written in parts)
    signature = _signature()
    if signature is None:
        return
    keywords = list(signature.dynamic_arg_names)
    trees = list(signature.dynamic_arg_treedefs)
    places = range(len(trees) - len(keywords))
    passed = [f"{name}=" for name in (*keywords, *signature.static_arg_names)]
    yield "structure", THE_CALL, ", ".join([f"{len(places)} positional", *passed])
    roots = [*(names[place] if place < len(names) else f"args[{place}]" for place in places), *keywords]
    facts = itertools.chain.from_iterable(itertools.starmap(_nodes, zip(roots, trees, strict=True)))
    yield from itertools.islice(facts, MAX_FACTS)
    if next(facts, None) is not None:
        yield "structure", "all arguments", f"#{hash(tuple(trees)) & 0xFFFFFFFF:x}"


def _signature() -> Any:
    """The `ArgumentSignature` of the nearest frame that parsed arguments; None in JAX versions without the class."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "debug_info":
        if frame.f_back is None:
            return None
        frame = frame.f_back
    for _ in range(_NEAR):
        if frame.f_back is None:
            return None
        frame = frame.f_back
        for value in frame.f_locals.values():
            if type(value).__name__ == "ArgumentSignature":
                return value
    return None


def _nodes(path: str, tree: Any) -> Iterator[Fact]:
    node = tree.node_data()
    if node is None:
        return
    kind, data = node
    children = tree.children()
    keys = [f"[{place}]" for place in range(len(children))]
    if kind is dict:
        keys = [f"[{key!r}]" if type(key) in (str, int) else f"[{text(key)}]" for key in data]
    elif kind is not list and kind is not tuple:
        yield "structure", path, "None" if kind is type(None) else text(kind)
        keys, static = _fields(kind, data, keys)
        for name, value in static:
            yield from (("static data", *part) for part in _parts_of(f"{path}{name}", value, 0))
    else:
        yield ("container" if children else "structure"), path, kind.__name__
    for key, child in zip(keys, children, strict=True):
        yield from _nodes(f"{path}{key}", child)


def _fields(kind: type, data: Any, keys: list[str]) -> tuple[list[str], list[tuple[str, Any]]]:
    """The names of a node's children, and its static data by name, if the class reveals them."""
    names = _tuple_fields(kind)
    if names and len(names) == len(keys):
        return [f".{name}" for name in names], []
    arrays, static = _dataclass_fields(kind)
    values = data if type(data) is tuple else (data,)
    if len(arrays) == len(keys) and len(static) == len(values):
        return [f".{name}" for name in arrays], [
            (f".{name}", value) for name, value in zip(static, values, strict=True)
        ]
    return keys, [] if data is None else [("", data)]


def _dataclass_fields(kind: type) -> tuple[Sequence[str], Sequence[str]]:
    """The fields with arrays and the static fields of a dataclass: as registered with JAX, else by their metadata."""
    flatten = getattr(sys.modules["jax._src.tree_util"]._registry.get(kind), "to_iter", None)
    if type(flatten) is types.FunctionType and flatten.__code__.co_freevars == ("data_fields", "meta_fields"):
        registered, static = (cell.cell_contents for cell in flatten.__closure__ or ())
        return registered, static
    described = class_attribute(kind, "__dataclass_fields__")
    fields = described if type(described) is dict else {}
    static = [name for name, field in fields.items() if _is_static(field.metadata)]
    return [name for name in fields if name not in static], static


def _tuple_fields(kind: type) -> tuple[str, ...]:
    """The fields of a named tuple class; empty for other classes."""
    names = class_attribute(kind, "_fields") if issubclass(kind, tuple) else ()
    return names if type(names) is tuple else ()


def _is_static(metadata: Mapping[str, Any]) -> bool:
    return bool(metadata.get("static")) or metadata.get("pytree_node") is False


def _parts_of(path: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Pairs of path and text for each field of a static value, so that differences have a name."""
    if type(value) is sys.modules["jax._src.tree_util"].PyTreeDef:  # its hash leaves static data out
        yield from ((subject, written) for _, subject, written in _nodes(path, value))
        return
    parts = _parts(value) if depth < _MAX_DEPTH else None
    if parts:
        for name, part in parts:
            yield from _parts_of(f"{path}{name}", part, depth + 1)
    else:
        yield path, text(value)


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    kind = type(value)
    if kind is tuple or kind is list:
        if value and all(map(_is_attribute, value)):
            return [(f"[{place}].{name}", part) for place, (name, part) in enumerate(value)]
        return [(f"[{place}]", part) for place, part in enumerate(value)]
    if kind is dict:
        return [(f"[{text(key)}]", part) for key, part in value.items()]
    names = _tuple_fields(kind)
    if names:
        return [(f".{name}", part) for name, part in zip(names, tuple.__iter__(value), strict=False)]
    fields = None if compares_by_identity(kind) else field_values(value)
    return None if fields is None else [(f".{name}", part) for name, part in fields]


def _is_attribute(value: Any) -> bool:
    """Whether a value is a pair of an attribute's name and its value, as in the graph of an nnx module."""
    return type(value) is tuple and len(value) == 2 and type(value[0]) is str and value[0].isidentifier()


def _settings() -> list[Fact]:
    """The settings that differ from the first trace, each with its value at that trace."""
    global _settings_now
    config = sys.modules["jax._src.config"]
    names, values = getattr(config, "trace_context_names", None), getattr(config, "trace_context", None)
    if names is None or values is None:
        return []
    state = values()
    known, facts = _settings_now  # at once: another thread may replace it
    if known is None or len(known) != len(state) or any(map(operator.is_not, state, known)):
        now = {name: text(value) for name, value in zip(names(), state, strict=True)}
        if not _settings_at_first:
            _settings_at_first.update(now)
        changed = [name for name in now if now[name] != _settings_at_first.get(name)]
        facts = [("setting", name, now[name]) for name in changed]
        facts += [("usual setting", name, _settings_at_first.get(name, "")) for name in changed]
        _settings_now = (state, facts)
    return facts
