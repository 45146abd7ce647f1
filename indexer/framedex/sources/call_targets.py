"""The possible definitions of a written call, among definitions with its name.

Types are unknown: only the text before the name is used, as in `Foo::make(`, `self.make(` or `x->make(`. It excludes
some definitions, but never distinguishes one method from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath

from framedex.base.lazy import compile_on_use
from framedex.sources.names import split_path

_ARGUMENTS = compile_on_use(r"<[^<>]*>")
_QUALIFIED = compile_on_use(r"(?:.*[^\w:>])?(?:::)?((?:\w+::)+)~?\w+")
_RECEIVER = compile_on_use(r"(?:(.*?)(?:\.|->))\s*(?:template\s+)?~?\w+", 16)  # re.DOTALL
_OWN_RECEIVERS = frozenset(("this", "(*this)", "self", "cls", "super()"))

Scope = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedDefinition:
    """A definition: its name, scope (the qualified name without its last part), kind, file and folders."""

    name: str
    scope: Scope
    kind: str
    path: str
    folders: tuple[str, ...]

    @staticmethod
    def from_columns(name: str, kind: str, path: str, language: str) -> NamedDefinition:
        """Create a definition from its columns."""
        scope = tuple(name.split(".")[:-1]) if language == "python" else split_path(name)[:-1]
        return NamedDefinition(name, scope, kind, path, PurePath(path).parts)


@dataclass(frozen=True, slots=True)
class CallTargets:
    """The possible definitions of a call; `is_sure`: no other definition is possible."""

    definitions: Sequence[NamedDefinition]
    is_sure: bool


class Namesakes:
    """All definitions of one name in a language, indexed by their scopes: there may be thousands of each."""

    def __init__(self, definitions: Iterable[NamedDefinition], language: str) -> None:
        self._language = language
        self._all = list(definitions)
        self._methods = [each for each in self._all if each.kind == "method"]
        self._functions = [each for each in self._all if each.kind == "function"]
        self._by_scope: dict[Scope, list[NamedDefinition]] = {}
        self._by_file: dict[str, list[NamedDefinition]] = {}
        for each in self._all:
            self._by_scope.setdefault(each.scope, []).append(each)
            self._by_file.setdefault(each.path, []).append(each)
        self._selected: dict[object, list[NamedDefinition]] = {}
        self._has_copies = len({_copy_key(each) for each in self._all}) < len(self._all)

    def resolve(self, kind: str, written: str, caller: NamedDefinition) -> CallTargets:
        """The possible definitions of a call in `caller`.

        `kind` and `written` come from the `CallSite`; `written` is empty if it is only the name, or too long.
        """
        is_python = self._language == "python"
        found = self._resolve_python(written, caller) if is_python else self._resolve_cpp(kind, written, caller)
        return (
            CallTargets(_select_nearest_copies(caller, found.definitions), found.is_sure) if self._has_copies else found
        )

    def _resolve_cpp(self, kind: str, written: str, caller: NamedDefinition) -> CallTargets:
        while "<" in written and (shorter := _ARGUMENTS.sub("", written)) != written:
            written = shorter
        if "::" in written and (qualified := _QUALIFIED.fullmatch(written)):
            scope = tuple(qualified[1].split("::")[:-1])
            return CallTargets(
                self._select_cached(scope, lambda each: each.scope[-len(scope) :] == scope), is_sure=True
            )
        if kind == "operator":
            return CallTargets(self._all, is_sure=False)
        if receiver := _RECEIVER.fullmatch(written):
            is_own = receiver[1].strip() in _OWN_RECEIVERS
            mine = [each for each in self._in_nearest_scope(caller) if each.kind == "method"] if is_own else []
            return CallTargets(mine or self._methods, is_sure=bool(mine))
        around = self._in_nearest_scope(caller)
        return CallTargets(around or self._all, is_sure=bool(around))

    def _in_nearest_scope(self, caller: NamedDefinition) -> Sequence[NamedDefinition]:
        """The definitions in the innermost scope around the caller that has any, as in unqualified name lookup."""
        scopes = (caller.scope[:length] for length in range(len(caller.scope), 0, -1))
        return next((self._by_scope[scope] for scope in scopes if scope in self._by_scope), ())

    def _resolve_python(self, written: str, caller: NamedDefinition) -> CallTargets:
        receiver, _, _ = written.rpartition(".")
        if not receiver:
            in_file = self._by_file.get(caller.path, ())
            here = [each for each in in_file if each.kind == "function" and _is_visible(each, caller)]
            return CallTargets(here or self._select_cached("global", lambda each: not each.scope), is_sure=bool(here))
        if receiver in _OWN_RECEIVERS:
            own_class = tuple(caller.name.partition(".<locals>")[0].split(".")[:-1])
            in_file = self._by_file.get(caller.path, ()) if receiver != "super()" else ()
            mine = [each for each in in_file if each.kind == "method" and each.scope == own_class]
            return CallTargets(mine or self._methods, is_sure=bool(mine))
        last = receiver.rpartition(".")[2]
        named = self._select_cached(
            ("of", last), lambda each: last == (each.scope[-1] if each.scope else _module_name(each))
        )
        others = self._select_cached("attributes", lambda each: each.kind == "method" or not each.scope)
        return CallTargets(named or others, is_sure=bool(named))

    def _select_cached(self, key: object, condition: Callable[[NamedDefinition], bool]) -> list[NamedDefinition]:
        """The definitions that fulfil a condition, cached by `key` because the same text recurs."""
        if key not in self._selected:
            self._selected[key] = [each for each in self._all if condition(each)]
        return self._selected[key]


def _select_nearest_copies(caller: NamedDefinition, definitions: Sequence[NamedDefinition]) -> list[NamedDefinition]:
    """The definitions without copies: several trees may have the same package, installed and checked out."""
    nearest: dict[tuple[str, tuple[str, ...]], NamedDefinition] = {}
    for each in definitions:
        known = nearest.setdefault(_copy_key(each), each)
        if known is not each and _count_common_folders(each, caller) > _count_common_folders(known, caller):
            nearest[_copy_key(each)] = each
    return list(nearest.values())


def _copy_key(definition: NamedDefinition) -> tuple[str, tuple[str, ...]]:
    return definition.name, definition.folders[-2:]


def _count_common_folders(one: NamedDefinition, other: NamedDefinition) -> int:
    pairs = zip(one.folders, other.folders, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_visible(function: NamedDefinition, caller: NamedDefinition) -> bool:
    """Whether a function in the same file is at module level, or local to a function that contains the caller."""
    around = function.scope[:-1] if function.scope[-1:] == ("<locals>",) else function.scope
    return not around or (*caller.scope, caller.name.rpartition(".")[2])[: len(around)] == around


def _module_name(function: NamedDefinition) -> str:
    """The name of the module that contains a function."""
    path = PurePath(function.path)
    return path.parent.name if path.name == "__init__.py" else path.stem
