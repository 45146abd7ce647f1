"""Match a symbol to its definition in the sources.

A symbol matches a definition with an equal path, ignoring template arguments, inline namespaces and ABI tags. This
leaves overloads, and functions with the same name in other files. Each rule below narrows them further. A rule that
would leave none is skipped. Nothing is guessed: if several definitions remain, all are returned.

A generated function matches the message or record that it was generated from, by the names that protoc and mlir-tblgen
choose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import PurePosixPath

from framedex.binaries.names import ANONYMOUS, LAMBDA, QualifiedName, parse_name, split_parameters
from framedex.model import Definition, LocationEvidence, NativeSymbol
from framedex.sources.names import ANY_SCOPE, build_key, is_defined_by_macro, split_path
from framedex.sources.types import SymbolFacts, Type, is_pack, score_parameters

Candidate = tuple[str, Definition]
"""The path of a source file and a definition in it."""


def _find_no_classes(_: str) -> Collection[str]:
    return ()


_MAX_CANDIDATES = 8  # candidates; nobody would check more


ClassesNamed = Callable[[str], Collection[str]]
"""The qualified names of the classes in the sources with this last name."""


def match_symbol(
    symbol: NativeSymbol,
    candidates: Sequence[Candidate],
    max_count: int = _MAX_CANDIDATES,
    classes_named: ClassesNamed = _find_no_classes,
) -> tuple[LocationEvidence | None, tuple[Candidate, ...]]:
    """Return the definition of `symbol` among candidates with its short name (`short_name(symbol.symbol)`).

    `classes_named` distinguishes a parameter of class type from a parameter whose type may be a typedef.

    Returns `LocationEvidence.DEFINITION` with the only definition, or `LocationEvidence.CLASS` with the class of an
    implicit member. If several remain, returns `LocationEvidence.CANDIDATES` with at most `most` of them, most likely
    first. Returns None with no candidates.
    """
    if not candidates:
        return None, ()
    name = parse_name(symbol.symbol)
    key = build_key(name)
    if not key:
        return None, ()
    if key[-1] == LAMBDA:
        return _match_lambda(symbol, name, _filter_by_path(symbol, key, candidates), candidates, max_count)
    functions = _filter_by_path(symbol, key, [c for c in candidates if c[1].kind in ("function", "method")])
    has_parameters = name.parameters is not None and not is_defined_by_macro(key[-1])
    parameters = _parse_parameters(name) if has_parameters else ()
    fitting = [c for c in functions if _accepts_count(c[1], parameters)] if has_parameters else functions
    possible = _filter_by_types(name, parameters, _prefer_constness(name, fitting), classes_named)
    fitting = [each for each, _ in possible]
    if _is_implicit(name, fitting):
        classes = _order_candidates(
            symbol, _filter_by_path(symbol, key[:-1], [c for c in candidates if c[1].kind == "class"])
        )
        if classes or fitting:  # without the class, definitions with this name do not include the implicit function
            return (LocationEvidence.CLASS if len(classes) == 1 else LocationEvidence.CANDIDATES), classes[
                :_MAX_CANDIDATES
            ] or _order_candidates(symbol, fitting)
    if name.key[-1].startswith("operator "):
        fitting = _select_or_keep_all(
            fitting, lambda _, definition: parse_name(definition.name).key[-1:] == name.key[-1:]
        )
        kept = frozenset(fitting)
        possible = [each for each in possible if each[0] in kept]
    if fitting and name.parameters is None:  # without parameters, overloads cannot be distinguished
        return _choose_candidates(
            _order_candidates(
                symbol, [*_prefer_unit(symbol, fitting), *_find_implicit_class(symbol, name, key, candidates)]
            ),
            max_count,
        )
    if possible:
        reachable = _filter_reachable(symbol, possible)
        found = _order_candidates(symbol, _prefer_unit(symbol, _select_best(reachable or possible)))
        # If only other units define it, the symbol's own definition may be missing from the sources.
        return _choose_candidates(found, max_count) if reachable else (LocationEvidence.CANDIDATES, found[:max_count])
    # The name matches but no parameter list does: it contains macros, or the overload is missing.
    return (LocationEvidence.CANDIDATES, _order_candidates(symbol, functions)[:max_count]) if functions else (None, ())


def match_generating_definition(
    symbol: NativeSymbol, candidates: Sequence[Candidate]
) -> tuple[LocationEvidence | None, tuple[Candidate, ...]]:
    """Return the message or record that generated a function.

    Returns `LocationEvidence.CLASS` with the only match, or `LocationEvidence.CANDIDATES` with several. `candidates`
    are the definitions in .proto and .td files with the names from `iterate_generated_scopes(symbol)`.
    """
    key = parse_name(symbol.symbol).key
    for scope in iterate_generated_scopes(symbol):
        namesakes = [c for c in candidates if c[1].name.rpartition("::")[2] == scope and c[1].kind in _GENERATING]
        if not namesakes:
            continue
        # protoc keeps the package as a namespace; a record's namespace is unknown.
        namespaced = [c for c in namesakes if _is_subsequence(split_path(c[1].name)[:-1], key)]
        found = _order_candidates(symbol, namespaced)[:_MAX_CANDIDATES]
        if found:
            return (LocationEvidence.CLASS if len(found) == 1 else LocationEvidence.CANDIDATES), found
    return None, ()


def find_lambdas(functions: Sequence[Candidate], candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that are lambdas within these functions."""
    return tuple(
        (path, definition)
        for path, definition in candidates
        if definition.kind == "lambda"
        and any(
            path == function_path and function.line <= definition.line <= function.end_line
            for function_path, function in functions
        )
    )


_GENERATING = ("message", "enum", "service", "record")


def iterate_generated_scopes(symbol: NativeSymbol) -> Iterator[str]:
    """The names of the messages and records that may have generated a function, innermost first."""
    return list_generator_names(parse_name(symbol.symbol).key)


def _is_subsequence(path: tuple[str, ...], key: tuple[str, ...]) -> bool:
    remaining = iter(key)
    return all(part in remaining for part in path)


def _find_implicit_class(
    symbol: NativeSymbol, name: QualifiedName, key: tuple[str, ...], candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """The class whose implicit copy or move members share the name of a constructor or assignment."""
    if len(name.parts) < 2 or name.parts[-1].text not in (name.parts[-2].text, "operator="):
        return ()
    return _filter_by_path(symbol, key[:-1], [c for c in candidates if c[1].kind == "class"])


def _choose_candidates(
    candidates: tuple[Candidate, ...], max_count: int
) -> tuple[LocationEvidence | None, tuple[Candidate, ...]]:
    if not candidates:
        return None, ()
    path, definition = candidates[0]
    is_uncertain = _OTHER_PLATFORM_PATH.search(path) or ANY_SCOPE in split_path(definition.name)
    is_certain = len(candidates) == 1 and not is_uncertain
    return (LocationEvidence.DEFINITION if is_certain else LocationEvidence.CANDIDATES), candidates[:max_count]


def _match_lambda(
    symbol: NativeSymbol,
    name: QualifiedName,
    lambdas: Sequence[Candidate],
    candidates: Sequence[Candidate],
    max_count: int,
) -> tuple[LocationEvidence | None, tuple[Candidate, ...]]:
    """A lambda of the enclosing function, identified by its parameters and, if the ABI has one, its number."""
    parameters = _lambda_parameters(name)
    here = [c for c in _prefer_unit(symbol, lambdas) if c[1].kind == "lambda"]
    fitting = here if parameters is None else [c for c in here if _accepts_count(c[1], parameters)]
    if fitting:
        alike = _select_most_similar(parameters or (), fitting)
        how, found = _choose_candidates(
            _order_candidates(symbol, alike if parameters is None else _select_by_ordinal(name, alike)), max_count
        )
        is_implicit = how is LocationEvidence.DEFINITION and name.is_special_member_of_lambda
        return (LocationEvidence.CLASS if is_implicit else how), found
    key = build_key(name)
    while key and key[-1] == LAMBDA:
        key = key[:-1]
    enclosing = _order_candidates(symbol, _prefer_unit(symbol, _filter_by_path(symbol, key, candidates)))
    return (LocationEvidence.CANDIDATES, enclosing[:max_count]) if enclosing else (None, ())


def _lambda_parameters(name: QualifiedName) -> tuple[str, ...] | None:
    """The parameters of the lambda; None if its name omits them, as in `f()::$_1::~$_1()`."""
    if not name.is_special_member_of_lambda:
        own = [part for part in name.parts[-2:] if part.parameters is not None]
        return _parse_parameters(name) if own else None
    text = name.parts[-2].parameters
    return None if text is None else split_parameters(text)


def _select_by_ordinal(name: QualifiedName, candidates: list[Candidate]) -> list[Candidate]:
    """The lambda that `{lambda(int)#2}` numbers among those with its signature (Itanium C++ ABI, 5.1.8).

    Clang's `$_2` is not this number: it counts in another order, across the whole translation unit.
    """
    number = next((part.ordinal for part in reversed(name.parts) if part.is_lambda), 0)
    in_one_function = len({(path, definition.name) for path, definition in candidates}) == 1
    if not 0 < number <= len(candidates) or not in_one_function:
        return candidates
    return [sorted(candidates, key=lambda c: c[1].line)[number - 1]]


def _filter_by_path(symbol: NativeSymbol, key: tuple[str, ...], candidates: Iterable[Candidate]) -> list[Candidate]:
    """The definitions with the symbol's path, or else definitions that differ only in parts that the source omits."""
    candidates = list(candidates)
    plain_name = "::".join(key)  # most names need no parsing
    if same := [c for c in candidates if c[1].name == plain_name or _has_parsed_path(c[1].name, key)]:
        return same
    paths = [(c, split_path(c[1].name)) for c in candidates]
    named = _strip_anonymous(key)
    if same := [c for c, path in paths if _is_path_of(_strip_anonymous(path), named)]:
        return same
    # A definition's name omits inline namespaces. A symbol does not mark them: only a name like `v1` identifies one.
    unversioned = tuple(part for part in named if not VERSION_NAMESPACE.fullmatch(part))
    if len(unversioned) < len(named) and (same := [c for c, path in paths if _strip_anonymous(path) == unversioned]):
        return same
    # `using namespace a; void Foo::bar() {}` defines a::Foo::bar: valid only in the symbol's translation unit.
    here = [(c, path) for c, path in paths if len(path) > 1 and PurePosixPath(c[0]).name == symbol.unit]
    if same := [c for c, path in here if key[-len(path) :] == path]:
        return same
    # `using Foo = Bar; Foo::~Bar() {}`: a destructor has the real class name, even under an alias.
    return [c for c, path in here if key[-1:] == path[-1:] and path[-1].startswith("~")]


VERSION_NAMESPACE = re.compile(r"(?:\w+_)?v\d+(?:_\d+)*|V\d+(?:_\d+)*")


def _has_parsed_path(name: str, key: tuple[str, ...]) -> bool:
    return (ANY_SCOPE in name or "operator " in name) and _is_path_of(split_path(name), key)


def _is_path_of(path: tuple[str, ...], key: tuple[str, ...]) -> bool:
    """Whether a definition has the path of a symbol; `ANY_SCOPE` matches any namespace."""
    if path == key or ANY_SCOPE not in path:
        return path == key
    return len(path) == len(key) and all(part in (ANY_SCOPE, own) for part, own in zip(path, key, strict=True))


def _strip_anonymous(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in path if part != ANONYMOUS)


def _is_implicit(name: QualifiedName, fitting: Sequence[Candidate]) -> bool:
    """Whether the symbol must be a compiler-generated constructor, destructor or assignment."""
    if len(name.parts) < 2:
        return False
    class_name, own_name = name.parts[-2].text, name.parts[-1].text
    parameters = name.parameters or ()
    if own_name == "operator=" and name.parameters is None and not fitting:
        return True
    if own_name in (class_name, "operator=") and len(parameters) == 1 and _main_type(parameters[0]) == class_name:
        return not any(_main_type((_parse_definition_parameters(d) or ("",))[0]) == class_name for _, d in fitting)
    return own_name in (class_name, "~" + class_name) and not fitting


def _prefer_unit(symbol: NativeSymbol, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The definitions in the symbol's translation unit, or else those in the unit's header."""
    if symbol.unit is None:
        return list(candidates)
    unit = PurePosixPath(symbol.unit)
    same = _select(candidates, lambda path, _: path.name == unit.name)
    return same or _select_or_keep_all(candidates, lambda path, _: path.stem == unit.stem)


def _prefer_constness(name: QualifiedName, candidates: Sequence[Candidate]) -> list[Candidate]:
    return _select_or_keep_all(candidates, lambda _, definition: definition.is_const == name.is_const)


def _filter_by_types(
    name: QualifiedName, parameters: tuple[str, ...], candidates: Sequence[Candidate], classes_named: ClassesNamed
) -> list[tuple[Candidate, float]]:
    """The definitions whose parameters may have the symbol's types, each with its score."""
    if not parameters:
        return [(each, 0) for each in candidates]
    arguments = [argument for part in name.parts if part.arguments for argument in split_parameters(part.arguments)]
    enclosing = tuple(part.text for part in name.parts[:-1])
    known = SymbolFacts(cache(lambda written: _is_class(written, enclosing, classes_named)), frozenset(arguments))
    if all(each[1].parameters is None for each in candidates):  # defined by macros
        return [(each, 0) for each in candidates]
    fits = [
        (each, score_parameters(parameters, _parse_definition_parameters(each[1]) or (), known)) for each in candidates
    ]
    certain = [(each, found.score) for each, found in fits if found and not found.is_doubtful]
    if certain or len(candidates) > 1:
        return certain
    # A typedef may hide a class. With a single definition, a typedef is the likelier explanation.
    return [(each, found.score) for each, found in fits if found]


def _is_class(written: Type, around: tuple[str, ...], classes_named: ClassesNamed) -> bool:
    """Whether a name means a class at this point: an enclosing class, or one in an enclosing scope."""
    if not written.scope and written.name in around:
        return True
    for path in map(split_path, classes_named(written.name)):
        scope = _strip_anonymous(path[: -1 - len(written.scope)])
        if path[-1 - len(written.scope) : -1] == written.scope and scope == around[: len(scope)]:
            return True
    return False


def _filter_reachable(symbol: NativeSymbol, scored: list[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
    """The definitions visible to the symbol's translation unit: in its own file, or in a file that it may include."""
    if symbol.unit is None:
        return scored
    unit = PurePosixPath(symbol.unit).name
    if not _TRANSLATION_UNIT.search(unit) or unit.startswith(
        "unity_"
    ):  # an object file, or a CMake unity build of other units
        return scored
    return [
        each for each in scored if PurePosixPath(each[0][0]).name == unit or not _TRANSLATION_UNIT.search(each[0][0])
    ]


def _select_best(scored: Sequence[tuple[Candidate, float]]) -> list[Candidate]:
    max_count = max((score for _, score in scored), default=0)
    return [each for each, score in scored if score > max_count - _SCORE_TOLERANCE]


def _select_most_similar(parameters: tuple[str, ...], candidates: Sequence[Candidate]) -> list[Candidate]:
    if len(candidates) < 2 or not parameters:
        return list(candidates)
    scores = [_score_types(parameters, definition) for _, definition in candidates]
    best = max(scores)
    return [candidate for candidate, score in zip(candidates, scores, strict=True) if score == best]


def _order_candidates(symbol: NativeSymbol, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The definitions, nearest to the symbol's unit first; tests and stubs only if nothing else remains."""
    this_platform = _select_or_keep_all(candidates, lambda path, _: not _OTHER_PLATFORM_PATH.search(str(path)))
    preferred = _select_or_keep_all(this_platform, lambda path, _: not _TEST_PATH.search(str(path)))
    stem = PurePosixPath(symbol.unit).stem if symbol.unit else None
    ordered = sorted(preferred, key=lambda c: (PurePosixPath(c[0]).stem != stem, c[0], c[1].line))
    by_place = {(path, definition.line): (path, definition) for path, definition in reversed(ordered)}
    return tuple(reversed(by_place.values()))


_TRANSLATION_UNIT = re.compile(r"\.(?:c|cc|cpp|cxx|c\+\+|C|m|mm|cu)$")
_TEST_PATH = re.compile(
    r"(?:_test|_stub|_mock|_fake|_benchmark|_fuzz)(?:s|er|ing|_?(?:util|lib|base|case|common|helper|main)\w*)?\.\w+$"
    r"|/(?:tests?|testing|mocks?|stubs?|examples?|samples?|docs?)/"
)

# Files for platforms without ELF, by naming convention.
_OTHER_PLATFORM_PATH = re.compile(r"(?:^|[/_.-])(?:win(?:32|64|dows)|macos|osx|darwin|msvc)(?=[/_.-])", re.I)


def _select(candidates: Sequence[Candidate], condition: Callable[[PurePosixPath, Definition], bool]) -> list[Candidate]:
    return [c for c in candidates if condition(PurePosixPath(c[0]), c[1])]


def _select_or_keep_all(
    candidates: Sequence[Candidate], condition: Callable[[PurePosixPath, Definition], bool]
) -> list[Candidate]:
    return _select(candidates, condition) or list(candidates)


def _parse_parameters(name: QualifiedName) -> tuple[str, ...]:
    """The parameters of a symbol. For a lambda whose `operator()` has none, they appear at the lambda."""
    for part in reversed(name.parts):
        if part.parameters is not None:
            return split_parameters(part.parameters)
    return ()


def _parse_definition_parameters(definition: Definition) -> tuple[str, ...] | None:
    text = definition.parameters
    return () if text is None else split_parameters(text.strip().removeprefix("(").removesuffix(")"))


def _accepts_count(definition: Definition, parameters: tuple[str, ...]) -> bool:
    """Whether the definition accepts this number of parameters; one with a pack accepts any number beyond the others.

    A function defined by a macro has no written parameters, so it accepts any.
    """
    if definition.parameters is None:
        return True
    own = _parse_definition_parameters(definition) or ()
    fixed = [p for p in own if not is_pack(p)]
    if len(fixed) < len(own) and own[-1] != "...":
        return len(parameters) >= len(fixed)
    return len(own) == len(parameters)


_WORDS = re.compile(r"[A-Za-z_]\w*|&&|[*&]")
_IGNORED_WORDS = frozenset(("volatile", "std", "absl", "class", "struct", "typename", "unsigned", "int", "allocator"))
_DEMANGLED_WORDS = {  # as written -> as a demangler prints it
    **{"uint64_t": "long", "int64_t": "long", "size_t": "long", "uint32_t": "unsigned", "int32_t": "int"},
    **{"string_view": "basic_string_view", "uint8_t": "unsigned", "int8_t": "signed"},
}
_MAIN_TYPE = re.compile(r"(?:(?:const|volatile|class|struct|enum|typename)\s+)*(?:::)?(?:\w+::)*(\w+)")
_ARGUMENTS = re.compile(r"<[^<>]*>")
_SCORE_TOLERANCE = 1e-6  # tolerance for equal sums of floats
_MAX_TEMPLATE_DEPTH = 8  # template arguments inside template arguments


def _score_types(parameters: tuple[str, ...], definition: Definition) -> float:
    """The similarity of a definition's types to the symbol's types: 0 to 2 for each parameter."""
    score = 0.0
    for wanted, written in zip(parameters, _parse_definition_parameters(definition) or (), strict=False):
        left, right = _find_significant_words(wanted), _find_significant_words(written.partition("=")[0])
        score += _main_type(wanted) == _main_type(written)
        score += 2 * len(left & right) / (len(left) + len(right) + 1)
    return round(score, 6)


def _find_significant_words(parameter: str) -> frozenset[str]:
    words = _WORDS.findall(parameter)
    return frozenset(_DEMANGLED_WORDS.get(word, word) for word in words if word not in _IGNORED_WORDS)


def _main_type(parameter: str) -> str:
    """Return `ReadWriteSet` for `const xla::BufferUse::ReadWriteSet& other`."""
    text = parameter.replace(f"{ANONYMOUS}::", "")
    for _ in range(_MAX_TEMPLATE_DEPTH):
        if "<" not in text:
            break
        text = _ARGUMENTS.sub("", text)
    found = _MAIN_TYPE.match(text)
    return _DEMANGLED_WORDS.get(found[1], found[1]) if found else ""


def list_generator_names(key: tuple[str, ...]) -> Iterator[str]:
    """The names of the possible classes of a generated function, innermost first.

    `key` is the path of the function. Prefixes and suffixes of generators are removed: `createFooPass`,
    `FooOpGenericAdaptorBase`.
    """
    for part in reversed(key):
        name = part.removeprefix("create").removeprefix("~")
        while name[:1].isupper():
            yield name
            if match_symbol := _GENERATED_PREFIX.match(
                name
            ):  # AttrDef<Ifrt_Dialect, "IfrtDevices"> is usually named Ifrt_DevicesAttr
                yield name[match_symbol.end() :]
            shorter = _GENERATED_SUFFIX.sub("", name)
            if shorter == name:
                break
            name = shorter


_GENERATED_PREFIX = re.compile(r"[A-Z][a-z]+(?=[A-Z][a-z]\w*(?:Attr|Type)$)")
_GENERATED_SUFFIX = re.compile(
    r"(?:GenericAdaptorBase|GenericAdaptor|Adaptor|Storage|InterfaceTraits|Base|Options|DefaultTypeInternal|Stub)$"
)
