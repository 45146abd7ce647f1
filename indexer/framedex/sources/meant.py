"""Which of the definitions of a name a call as written can be of.

No types are known, only what stands before the name: `Foo::make(`, `self.make(`, `x->make(`. That rules some
definitions out, and never tells one of several methods from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePath

from framedex.patterns import compiled_on_use
from framedex.sources.names import path_of

_ARGUMENTS = compiled_on_use(r"<[^<>]*>")
_QUALIFIED = compiled_on_use(r"(?:.*[^\w:>])?(?:::)?((?:\w+::)+)~?\w+")
_RECEIVER = compiled_on_use(r"(?:(.*?)(?:\.|->))\s*(?:template\s+)?~?\w+", 16)  # re.DOTALL
_OWN = frozenset(("this", "(*this)", "self", "cls", "super()"))


@dataclass(frozen=True, slots=True)
class Named:
    """A definition: what its qualified name consists of but for the last part, its kind, and the file that it is in."""

    name: str
    scope: tuple[str, ...]
    kind: str
    path: str

    @staticmethod
    def of(name: str, kind: str, path: str, language: str) -> Named:
        """A definition by its columns."""
        scope = tuple(name.split(".")[:-1]) if language == "python" else path_of(name)[:-1]
        return Named(name, scope, kind, path)


@dataclass(frozen=True, slots=True)
class Meant:
    """The definitions that a call can be of; `is_sure`: none that is not among those that were asked about."""

    definitions: Sequence[Named]
    is_sure: bool


def meant(kind: str, written: str, caller: Named, language: str, definitions: Sequence[Named]) -> Meant:
    """Which of the definitions, which all have the called name, a call in `caller` can be of.

    `kind` and `written` are those of the `CallSite`; nothing is written where it is the name alone, or long.
    """
    if language == "python":
        found = _in_python(written, caller, definitions)
    else:
        found = _in_cpp(kind, written, caller, definitions)
    return replace(found, definitions=_nearest_copies(caller, found.definitions))


def _nearest_copies(caller: Named, definitions: Sequence[Named]) -> list[Named]:
    """The definitions, each once where several trees have it: a package that is installed and checked out."""
    nearest: dict[tuple[str, tuple[str, ...]], Named] = {}
    for each in definitions:
        copy = each.name, PurePath(each.path).parts[-2:]
        known = nearest.setdefault(copy, each)
        if known is not each and _in_common(each, caller) > _in_common(known, caller):
            nearest[copy] = each
    return list(nearest.values())


def _in_common(one: Named, other: Named) -> int:
    pairs = zip(PurePath(one.path).parts, PurePath(other.path).parts, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_cpp(kind: str, written: str, caller: Named, definitions: Sequence[Named]) -> Meant:
    while "<" in written and (shorter := _ARGUMENTS.sub("", written)) != written:
        written = shorter
    if qualified := _QUALIFIED.fullmatch(written):
        scope = tuple(qualified[1].split("::")[:-1])
        return Meant([each for each in definitions if each.scope[-len(scope) :] == scope], is_sure=True)
    if kind == "operator":
        return Meant(definitions, is_sure=False)
    if receiver := _RECEIVER.fullmatch(written):
        methods = [each for each in definitions if each.kind == "method"]
        mine = _around(caller, methods) if receiver[1].strip() in _OWN else []
        return Meant(mine or methods, is_sure=bool(mine))
    around = _around(caller, definitions)
    return Meant(around or definitions, is_sure=bool(around))


def _around(caller: Named, definitions: Sequence[Named]) -> list[Named]:
    """The definitions in the innermost scope around the caller that has any, as unqualified names are looked up."""
    for length in range(len(caller.scope), 0, -1):
        scope = caller.scope[:length]
        if found := [each for each in definitions if each.scope == scope]:
            return found
    return []


def _in_python(written: str, caller: Named, definitions: Sequence[Named]) -> Meant:
    receiver, _, _ = written.rpartition(".")
    methods = [each for each in definitions if each.kind == "method"]
    if not receiver:
        functions = [each for each in definitions if each.kind == "function"]
        here = [each for each in functions if each.path == caller.path and _is_visible(each, caller)]
        return Meant(here or [each for each in functions if not each.scope], is_sure=bool(here))
    if receiver in _OWN:
        own_class = tuple(caller.name.partition(".<locals>")[0].split(".")[:-1])
        mine = [each for each in methods if (each.path, each.scope) == (caller.path, own_class)]
        is_mine = bool(mine) and receiver != "super()"
        return Meant(mine if is_mine else methods, is_sure=is_mine)
    last = receiver.rpartition(".")[2]
    named = [each for each in definitions if last == (each.scope[-1] if each.scope else _module(each))]
    return Meant(named or [*methods, *(each for each in definitions if not each.scope)], is_sure=bool(named))


def _is_visible(function: Named, caller: Named) -> bool:
    """Whether a function of the same file is the file's own, or of a function that the caller is in."""
    around = function.scope[:-1] if function.scope[-1:] == ("<locals>",) else function.scope
    return not around or (*caller.scope, caller.name.rpartition(".")[2])[: len(around)] == around


def _module(function: Named) -> str:
    path = PurePath(function.path)
    return path.parent.name if path.name == "__init__.py" else path.stem
