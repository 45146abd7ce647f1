"""Whether a written parameter can have the type in a symbol's name.

A symbol spells types out: no typedefs, no parameter names, no top-level const (Itanium C++ ABI, 5.1.5). A source has
names that only a compiler can look up: typedefs, template parameters, member types. So the comparison uses only what
both must share: built-in types and their standard names, pointers and references, and the last names of classes. An
unknown name matches any type, but the same type everywhere in a parameter list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from framedex.base.lazy import compile_on_use
from framedex.binaries.names import INLINE_NAMESPACES, split_parameters

BUILT_IN = frozenset(
    (
        *("void", "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int"),
        *("unsigned int", "long", "unsigned long", "long long", "unsigned long long", "__int128"),
        *("unsigned __int128", "float", "double", "long double", "wchar_t", "char8_t", "char16_t"),
        *("char32_t", "_Float16", "__bf16", "nullptr_t"),
    )
)

BUILT_IN_WORDS = frozenset(word for each in BUILT_IN - {"nullptr_t"} for word in each.split())

IGNORED_WORDS = frozenset(
    (
        *("class", "struct", "enum", "union", "typename", "register", "inline", "restrict", "__restrict"),
        *("__restrict__", "volatile"),
    )
)
"""Words in a type that do not change its meaning."""

STANDARD_TYPEDEFS = {
    **dict.fromkeys(
        ("size_t", "uint64_t", "uintptr_t", "uintmax_t", "uint_fast64_t", "uint_fast32_t"), "unsigned long"
    ),
    **dict.fromkeys(("ssize_t", "int64_t", "ptrdiff_t", "intptr_t", "intmax_t", "off_t", "time_t"), "long"),
    **{"uint32_t": "unsigned int", "int32_t": "int", "uint16_t": "unsigned short", "int16_t": "short"},
    **{"uint8_t": "unsigned char", "int8_t": "signed char", "nullptr_t": "nullptr_t", "streamsize": "long"},
}
"""Typedefs in <cstddef>, <cstdint> and <sys/types.h> and their types, on 64-bit Linux."""

CHARACTER_TYPEDEFS = frozenset(
    (
        *("string", "string_view", "ostream", "istream", "iostream", "stringstream", "ostringstream"),
        *("istringstream", "fstream", "ofstream", "ifstream", "streambuf", "stringbuf", "filebuf", "ios"),
        *("regex",),
    )
)
"""Typedefs of class templates with a character type: `string` is `basic_string<char>`."""

STANDARD_CLASSES = CHARACTER_TYPEDEFS | frozenset(
    (
        *("vector", "map", "set", "unordered_map", "unordered_set", "multimap", "multiset", "list"),
        *("deque", "array", "pair", "tuple", "optional", "variant", "any", "function", "shared_ptr"),
        *("unique_ptr", "weak_ptr", "initializer_list", "atomic", "complex", "bitset", "queue", "stack"),
        *("span", "expected", "reference_wrapper", "thread", "mutex", "recursive_mutex", "unique_lock"),
        *("lock_guard", "condition_variable", "promise", "future", "shared_future", "exception_ptr"),
        *("exception", "type_info", "locale", "error_code", "allocator"),
    )
)


_CACHE_SIZE = 1 << 14  # the number of cached types, enough for a large library


IMPOSSIBLE, UNKNOWN, SAME = 0.0, 1.0, 3.0
"""Scores of a written parameter: impossible; a name that may be a typedef or template parameter; the same type.

A score in between is better than the lower one: the same template with partly unknown arguments.
"""

_ALIAS_TEMPLATE_SCORE = 0.5  # a template alias is rarer than a plain typedef
_OTHER_SCOPE_SCORE = 2.75  # the scope may be an alias
_REFERENCE_PENALTY = 0.4  # a typedef of a reference is rare
_MAX_DEPTH = 32  # nested template arguments; deeper ones are not compared
_LAYER_SCORE = 0.05  # added for each equal `const`, `*` or `&` around an unknown name


@dataclass(frozen=True, slots=True)
class Type:
    """A parsed type. `name` is the last name of a class, or a built-in type as demanglers spell it; empty if unknown.

    `layers` surround the name, innermost first: `const`, `*`, `&`, `&&`, `[]` for an array, `()` for a function, whose
    parameters are `parameters`. `arguments` is None without template arguments.
    """

    name: str
    scope: tuple[str, ...] = ()
    arguments: tuple[str, ...] | None = None
    layers: tuple[str, ...] = ()
    parameters: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SymbolFacts:
    """Facts about a symbol other than its parameters.

    `is_class` returns whether a written type may mean a class. `arguments` has the template arguments of the function
    and of its classes; `is_template`: it is not empty.
    """

    is_class: Callable[[Type], bool]
    arguments: Collection[str] = ()

    @property
    def is_template(self) -> bool:
        """Whether the function or one of its classes has template arguments."""
        return bool(self.arguments)


class ParameterScore(NamedTuple):
    """The total score of parameters; `is_doubtful`: one matches only if its type is not the class with that name."""

    score: float
    is_doubtful: bool = False


def score_parameters(wanted: Sequence[str], written: Sequence[str], known: SymbolFacts) -> ParameterScore | None:
    """Return the score of written parameters against those of a symbol; None if one cannot have the symbol's type."""
    comparison = _ParameterComparison(known)
    total = 0.0
    for i, (wanted_text, written_text) in enumerate(zip(wanted, written, strict=False)):
        if is_pack(written_text):
            total += UNKNOWN * (len(wanted) - i)
            break
        found = comparison.score(parse_type(wanted_text), parse_type(_strip_default(written_text)))
        if found == IMPOSSIBLE:
            return None
        total += found
    return ParameterScore(total, comparison.is_doubtful)


def is_pack(parameter: str) -> bool:
    """Whether a written parameter stands for any number of parameters: `Args&&... args`, or a macro."""
    return ("..." in parameter and _is_pack(parameter)) or _MACRO_NAME.fullmatch(parameter) is not None


@lru_cache(_CACHE_SIZE)
def _is_pack(parameter: str) -> bool:
    depth = 0
    for i, character in enumerate(parameter):
        depth += (character in "<([") - (character in ">)]" and parameter[i - 1 : i] != "-")
        if not depth and parameter.startswith("...", i):
            return True
    return False


class _ParameterComparison:
    """The comparison of one written parameter list with a symbol's."""

    def __init__(self, known: SymbolFacts) -> None:
        self._known = known
        self.is_doubtful = False
        self._meanings: dict[str, Type] = {}  # the type of each unknown name
        self._depth = 0

    def score(self, wanted: Type, written: Type) -> float:
        if not written.name or not wanted.name:
            return UNKNOWN
        if wanted.name == written.name:
            return self._score_same_name(wanted, written)
        if written.name in BUILT_IN or (written.scope == ("std",) and written.name in STANDARD_CLASSES):
            return IMPOSSIBLE
        meaning = _infer_type(wanted, written)
        if meaning is None:
            return IMPOSSIBLE
        self.is_doubtful |= self._known.is_class(written)
        score = UNKNOWN if written.arguments is None else _ALIAS_TEMPLATE_SCORE
        if meaning.layers[-1:] in (("&",), ("&&",)):
            score -= _REFERENCE_PENALTY
        score += _LAYER_SCORE * len(written.layers)
        return score if written.arguments is not None or self._is_consistent(written, meaning) else IMPOSSIBLE

    def _score_same_name(self, wanted: Type, written: Type) -> float:
        if wanted.layers != written.layers or not self._is_consistent(written, _strip_layers(wanted)):
            return IMPOSSIBLE
        is_elsewhere = written.scope and wanted.scope and written.scope[-1] != wanted.scope[-1]
        best = _OTHER_SCOPE_SCORE if is_elsewhere else SAME
        if wanted.parameters is not None and written.parameters is not None:
            best = min(best, self._score_lists(wanted.parameters, written.parameters, is_whole=True))
        # A name without arguments is a class inside its own definition, or not a template.
        if best != IMPOSSIBLE and written.arguments is not None and wanted.arguments is not None:
            best = min(best, self._score_lists(wanted.arguments, written.arguments, is_whole=False))
        return best

    def _score_lists(self, wanted: Sequence[str], written: Sequence[str], is_whole: bool) -> float:
        """The score of template arguments (the last ones may be defaults) or of a function type's parameters."""
        if is_whole and len(wanted) != len(written) and not any("..." in each for each in written):
            return IMPOSSIBLE
        if self._depth == _MAX_DEPTH:
            return UNKNOWN
        self._depth += 1
        fits = []
        for wanted_text, written_text in zip(wanted, written, strict=False):
            if "..." in written_text and not is_whole and _is_pack(written_text):
                break
            fits.append(self._score_argument(wanted_text, written_text))
        self._depth -= 1
        if IMPOSSIBLE in fits:
            return IMPOSSIBLE
        if not fits or min(fits) == SAME:
            return SAME
        # Outside a template, an unknown argument cannot be a template parameter, only another type's name.
        return UNKNOWN + self._known.is_template + sum(fits) / len(fits) / SAME

    def _score_argument(self, wanted: str, written: str) -> float:
        if not _VALUE.match(wanted):
            return self.score(parse_argument_type(wanted), parse_argument_type(written))
        if _strip_number_suffix(wanted) == _strip_number_suffix(written):
            return SAME
        # A template parameter has its value among the symbol's arguments; a value computed from it may not appear.
        return UNKNOWN + (_NAME.fullmatch(written) is not None) * (
            1 if wanted in self._known.arguments else -_LAYER_SCORE
        )

    def _is_consistent(self, written: Type, meaning: Type) -> bool:
        """Whether a name has the same meaning as before."""
        return self._meanings.setdefault("::".join((*written.scope, written.name)), meaning) == meaning


def _strip_layers(wanted: Type) -> Type:
    return Type(wanted.name, wanted.scope)


def _strip_number_suffix(value: str) -> str:
    return value.rstrip("uUlL")


def _infer_type(wanted: Type, written: Type) -> Type | None:
    """The type of an unknown name if the parameter has the wanted type; None if that is impossible."""
    wanted_layers, written_layers = list(wanted.layers), list(written.layers)
    while written_layers:
        layer = written_layers.pop()
        if layer == "&&" and wanted_layers[-1:] == ["&"] and not written_layers:
            return Type(wanted.name, wanted.scope, None, tuple(wanted_layers[:-1]))  # a forwarding reference
        if wanted_layers[-1:] != [layer]:
            # `const T*` cannot be a pointer to non-const, but `const` has no effect on a function or array.
            return None if layer != "const" or wanted_layers[-1:] not in (["()"], ["[]"]) else wanted
        wanted_layers.pop()
    if wanted_layers[-1:] == ["const"]:
        wanted_layers.pop()
    return Type(wanted.name, wanted.scope, None, tuple(wanted_layers))


@lru_cache(_CACHE_SIZE)
def parse_type(text: str) -> Type:
    """Parse a parameter's type, as a demangler prints it, or as written, with or without a name."""
    return _Parser(text).type(is_parameter=True)


@lru_cache(_CACHE_SIZE)
def parse_argument_type(text: str) -> Type:
    """Parse a template argument's type; unlike for a parameter, its outer `const` counts."""
    return _Parser(text).type(is_parameter=False)


class _Parser:
    """A single-pass parser of a type; unsupported syntax yields the unknown type."""

    def __init__(self, text: str) -> None:
        self._text = INLINE_NAMESPACES.sub("", _IGNORED_TEXT.sub(" ", text)).replace("decltype(nullptr)", "nullptr_t")
        self._words: list[str] = []  # the name, or the words of a built-in type
        self._scope: list[str] = []
        self._arguments: tuple[str, ...] | None = None
        self._layers: list[str] = []
        self._is_const = False
        self._is_named = False  # whether the parameter's own name was parsed
        self._inner_layers: list[str] | None = None  # `&` of `char (&name)[3]`
        self._parameters: tuple[str, ...] | None = None  # of a function
        self._is_complete = False

    def type(self, is_parameter: bool) -> Type:
        if _LOCAL_TYPE.search(self._text):
            return _UNKNOWN
        for token in self._tokens():
            if self._is_complete:
                break
            if not self._consume(token):
                return _UNKNOWN
        if not self._words or self._words[0] in ("auto", "decltype"):
            return _UNKNOWN
        layers = [*(["const"] if self._is_const else []), *self._layers]
        if layers[-1:] == ["const"] and is_parameter:
            layers.pop()
        name, scope, arguments = self._name()
        return Type(name, scope, arguments, tuple(layers), self._parameters)

    def _tokens(self) -> Iterator[str]:
        """Yield words, `::`, `*`, `&`, `&&`, and whole groups in brackets; last "" if other text follows."""
        position, text = 0, self._text
        while match := _TOKEN.match(text, position):
            token, position = match[1], match.end()
            if token in _CLOSING_BRACKETS:
                begin = match.start(1)
                position = _find_closing(text, begin) + 1
                token = text[begin:position]
            yield token
        if text[position:].strip():
            yield ""

    def _consume(self, token: str) -> bool:
        """Consume a token; return whether it was understood."""
        first = token[:1]
        if token == "const":
            return self._consume_const()
        if token in ("*", "&", "&&"):
            self._layers.append(token)
            return bool(self._words) and not self._is_named
        if token == "::":
            if self._words:
                self._scope.append(self._words.pop())
                self._arguments = None
            return not self._is_named and not self._layers
        if first == "<":
            self._arguments = split_parameters(token[1:-1])
            return bool(self._words) and not self._is_named
        if first == "(":
            return self._consume_group(token[1:-1].strip())
        if first == "[":
            return self._consume_array()
        return bool(first) and self._consume_word(token)

    def _consume_const(self) -> bool:
        if not self._layers:
            self._is_const = True
        elif self._layers[-1] == "*":
            self._layers.append("const")
        return True

    def _consume_word(self, word: str) -> bool:
        if word in IGNORED_WORDS:
            return True
        if not self._words:
            self._words.append(word)
            return not self._layers
        if word in BUILT_IN_WORDS and self._words[-1] in BUILT_IN_WORDS and not self._layers:
            self._words.append(word)
            return True
        was_named, self._is_named = self._is_named, True
        return not was_named  # with a third word, one of the words is a macro

    def _consume_group(self, inside: str) -> bool:
        """Consume `(*)`, `(&name)` or `(C::*)` of a declarator, or the parameters of a function."""
        if not self._words or self._words[0] == "decltype":
            return False
        if self._inner_layers is None and not self._is_named and (found := _INNER_DECLARATOR.match(inside)):
            self._inner_layers = [layer[-2:].strip(": ") for layer in found.groups() if layer]
            return True
        # A parameter of function type is a pointer to a function.
        self._layers += ["()", *(self._inner_layers or ["*"])]
        self._parameters = split_parameters(inside)
        self._is_complete = True
        return True

    def _consume_array(self) -> bool:
        # A parameter of array type is a pointer to its first element.
        self._layers += ["*"] if self._inner_layers is None else ["[]", *self._inner_layers]
        self._is_complete = True
        return bool(self._words)

    def _name(self) -> tuple[str, tuple[str, ...], tuple[str, ...] | None]:
        name, scope = self._words[0], tuple(self._scope)
        if name in BUILT_IN_WORDS:
            return _normalise_built_in(self._words), (), None
        if name in STANDARD_TYPEDEFS and scope in ((), ("std",)):
            return STANDARD_TYPEDEFS[name], (), None
        return _normalise_character_template(name, scope, self._arguments)


def _normalise_built_in(words: Sequence[str]) -> str:
    """Return `unsigned long` for `long unsigned int`: the name that demanglers use."""
    counts = {word: words.count(word) for word in words}
    if "double" in counts:
        return "long double" if "long" in counts else "double"
    for plain in ("void", "bool", "float", "wchar_t", "char8_t", "char16_t", "char32_t", "_Float16", "__bf16"):
        if plain in counts:
            return plain
    sign = "unsigned " if "unsigned" in counts else ""
    if "char" in counts:
        return (sign or ("signed " if "signed" in counts else "")) + "char"
    if "__int128" in counts:
        return sign + "__int128"
    if "short" in counts:
        return sign + "short"
    if longs := counts.get("long", 0):
        return sign + ("long long" if longs > 1 else "long")
    return sign.strip() + (" int" if sign else "int")


def _normalise_character_template(
    name: str, scope: tuple[str, ...], arguments: tuple[str, ...] | None
) -> tuple[str, tuple[str, ...], tuple[str, ...] | None]:
    """Normalise `std::basic_ostream<char, ...>`, `std::ostream` and `std::wostream` to one template of a character."""
    if name.startswith("basic_") and name.removeprefix("basic_") in CHARACTER_TYPEDEFS:
        return name.removeprefix("basic_"), scope, (arguments or ("",))[:1]
    if arguments is None and name in CHARACTER_TYPEDEFS:
        return name, scope, ("char",)
    if arguments is None and name[:1] == "w" and name[1:] in CHARACTER_TYPEDEFS:
        return name[1:], scope, ("wchar_t",)
    return name, scope, arguments


def _strip_default(parameter: str) -> str:
    """Return `int n` for `int n = 3`."""
    if "=" not in parameter:
        return parameter
    return _DEFAULT.split(parameter, maxsplit=1)[0]


def _find_closing(text: str, opened: int) -> int:
    """The index of the bracket that closes the one at `opened`, or of the last character."""
    depth, closing = 0, _CLOSING_BRACKETS[text[opened]]
    for i in range(opened, len(text)):
        depth += (text[i] == text[opened]) - (text[i] == closing and text[i - 1 : i] != "-")
        if not depth:
            return i
    return len(text) - 1


_UNKNOWN = Type("")
# Unclosed text is dropped up to the end, and spaces are matched possessively, so that matching takes linear time.
_IGNORED_TEXT = compile_on_use(r"/\*.*?(?:\*/|\Z)|\(anonymous namespace\)::|\[\[.*?(?:\]\]|\Z)|\[abi:\w+\]", re.DOTALL)
_DEFAULT = compile_on_use(r"(?<![=<>!])=(?!=)")
_MACRO_NAME = compile_on_use(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")  # capitals: the style of macro names, rarely of types
_VALUE = compile_on_use(r"-?\d|\(|true\b|false\b|'|&")
_LOCAL_TYPE = compile_on_use(
    r"\)(?: const)?::|[{'$]"
)  # a lambda or a local class: no other parameter can have its type
_INNER_DECLARATOR = compile_on_use(
    r"(?=[*&]|\w[\w:]*::\*)((?:[\w:]+::)?\*)?(?: *+const\b)? *+(&&?)? *+(?:const\b)? *+\w*$"
)
_TOKEN = compile_on_use(r"\s*(::|&&|[*&<(\[]|\w+)")
_NAME = compile_on_use(r"[A-Za-z_]\w*")
_CLOSING_BRACKETS = {"(": ")", "[": "]", "<": ">"}
