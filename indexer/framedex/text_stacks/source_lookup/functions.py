"""Finds the locations of a native function by its name: in the index, in release maps, and in public repositories."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from framedex.base.lazy import TextCache
from framedex.model import GENERATOR_LANGUAGES, Location, LocationEvidence, NativeSymbol, is_local
from framedex.path_resolution.files import file_exists
from framedex.text_stacks.source_lookup.released import MAX_CANDIDATES, ReleasedSources

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.sources.calls import Span
    from framedex.sources.matching import Candidate


class FunctionLocations(NamedTuple):
    """The locations of a function, and its possible definitions: file and lines of each.

    `is_certain`: there is only one definition.
    """

    locations: tuple[Location, ...] = ()
    definitions: tuple[tuple[str, Span], ...] = ()
    is_certain: bool = False


class FunctionSearch:
    """Searches functions by name, each once."""

    def __init__(self, index: Index | None, released: ReleasedSources) -> None:
        self._index = index
        self._released = released
        self._found: TextCache[Hashable, FunctionLocations] = TextCache()
        self._defined_symbols: TextCache[str, bool] = TextCache()

    def is_defined(self, symbol: str) -> bool:
        """Whether the indexed sources define a function with this demangled name."""
        return self._defined_symbols.get_or_make(symbol, len(symbol), lambda: self._has_definition(symbol))

    def _has_definition(self, symbol: str) -> bool:
        from framedex.binaries.names import readable_name
        from framedex.sources.matching import match_symbol
        from framedex.sources.names import short_name

        if self._index is None or not (defined := self._index.names.definitions_named(short_name(symbol), "cpp")):
            return False
        wanted = NativeSymbol(readable_name(symbol), symbol, symbol, None, 0, inlined=False, unit=None)
        return match_symbol(wanted, defined)[0] in (LocationEvidence.DEFINITION, LocationEvidence.CANDIDATES)

    def find(self, name: str, file_name: str, module: str, function: NativeSymbol | None) -> FunctionLocations:
        """Return the locations of a function of a module, restricted to files with this name unless it is empty.

        `function` is the function in the binary, if known; `name` is then its symbol.
        """
        may_be_released = self._released.may_be_library_function(name)
        if not name or name.startswith("<") or (self._index is None and not may_be_released):
            return FunctionLocations()
        state = (module, self._released.state()) if may_be_released else None
        return self._found.get_or_make(
            (name, file_name, state, function),
            len(name) + len(module),
            lambda: self._search(name, file_name, module, function),
        )

    def _search(self, text: str, file_name: str, module: str, function: NativeSymbol | None) -> FunctionLocations:
        from framedex.binaries.demangle import parse_printed_name
        from framedex.binaries.names import readable_name
        from framedex.sources.names import short_name
        from framedex.text_stacks.source_lookup.versions import COMMON_FUNCTIONS

        def has_file_name(path: str) -> bool:
            return not file_name or _file_name(path) == file_name

        symbol, is_cut = (function.symbol, False) if function is not None else parse_printed_name(text)
        if not symbol:
            return FunctionLocations()
        names = self._index.names if self._index is not None else None
        name = readable_name(symbol)
        wanted = NativeSymbol(name, symbol, text, None, 0, inlined=False, unit=None)
        if function is not None:
            wanted = replace(function, path=None, line=0)
        places = (
            [place for place in names.find_locations(name) if has_file_name(place.path)] if names and not is_cut else []
        )
        defined: list[Candidate] = []
        if names and (function is not None or symbol.partition("(")[0] not in COMMON_FUNCTIONS):
            defined = [each for each in names.definitions_named(short_name(symbol), "cpp") if has_file_name(each[0])]

        def find_defined_in(is_readable: Callable[[str], bool]) -> FunctionLocations:
            locations = [place for place in places if is_readable(place.path)]
            matching = self._match_definitions(wanted, [each for each in defined if is_readable(each[0])], is_cut)
            if not locations or (function is not None and matching.locations):
                return matching
            lines = {
                (each.path, each.line)
                for each in locations
                if each.how in (LocationEvidence.DEFINITION, LocationEvidence.CANDIDATES)
            }
            spans = [_definition_span(each) for each in defined if (each[0], each[1].line) in lines]
            is_certain = len(locations) == 1 and locations[0].how is LocationEvidence.DEFINITION and len(spans) == 1
            return FunctionLocations(self._released.label_locations(locations), tuple(spans), is_certain)

        def find_released() -> FunctionLocations:
            defined = self._released.definitions(symbol, module)
            placed = self._match_definitions(
                wanted, [each for each in defined.candidates if has_file_name(each[0])], is_cut
            )
            if placed.locations:
                self._released.mark_used(defined.release)
            return placed

        def find_public() -> FunctionLocations:
            """Return the recorded locations in public files that are not here."""
            return FunctionLocations(self._released.label_locations(place for place in places if place.url))

        def mark_other_release(placed: FunctionLocations) -> FunctionLocations:
            return placed._replace(locations=self._released.check_recorded_release(placed.locations))

        # The text's own release takes precedence over a recorded one.
        first, last = (
            (find_released, FunctionLocations)
            if self._released.states_release()
            else (FunctionLocations, find_released)
        )
        lookups: tuple[Callable[[], FunctionLocations], ...] = (
            lambda: find_defined_in(file_exists),
            first,
            lambda: mark_other_release(find_defined_in(lambda path: not is_local(path))),
            lambda: mark_other_release(find_public()),
            lambda: FunctionLocations() if is_cut or file_name else self._find_generator(wanted),
            last,
        )
        return next((placed for look_up in lookups if (placed := look_up()).locations), FunctionLocations())

    def _find_generator(self, wanted: NativeSymbol) -> FunctionLocations:
        """Return the message or record that a function was generated from."""
        from framedex.sources.matching import iterate_generated_scopes, match_generating_definition

        if self._index is None:
            return FunctionLocations()
        names = self._index.names
        asked = [
            (scope, kind) for scope in dict.fromkeys(iterate_generated_scopes(wanted)) for kind in GENERATOR_LANGUAGES
        ]
        how, found = match_generating_definition(wanted, [each for a in asked for each in names.definitions_named(*a)])
        if how is None:
            return FunctionLocations()
        return FunctionLocations(self._released.label_locations(Location(path, each.line, how) for path, each in found))

    def _match_definitions(
        self, wanted: NativeSymbol, definitions: Sequence[Candidate], is_cut: bool
    ) -> FunctionLocations:
        """Return the locations of the definitions that match a symbol."""
        from framedex.sources.matching import find_lambdas, match_symbol

        how, found = match_symbol(wanted, definitions, MAX_CANDIDATES + 1) if definitions else (None, ())
        if how is None:
            return FunctionLocations()
        if is_cut:  # the missing part may name a lambda inside
            found = (*found, *find_lambdas(found, definitions))
        if len(found) > MAX_CANDIDATES:  # a selection would be arbitrary
            return FunctionLocations()
        spans = (
            ()
            if how is LocationEvidence.CLASS
            else tuple(_definition_span(each) for each in found if each[1].end_line > 0)
        )
        locations = self._released.label_locations(Location(path, definition.line, how) for path, definition in found)
        return FunctionLocations(locations, spans, how is LocationEvidence.DEFINITION)


def _definition_span(defined: Candidate) -> tuple[str, Span]:
    path, definition = defined
    return path, (definition.line, definition.end_line)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
