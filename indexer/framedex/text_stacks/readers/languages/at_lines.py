"""Parser of frames that begin with an indented `at`: Java and related languages, .NET, and V8 (Node, Deno, Chromium).

Sources: OpenJDK's Throwable.printStackTrace and StackTraceElement.toString; .NET's StackTrace.ToString; V8's stack
trace API. Java prints a file name alone. .NET prints a path if there are symbols. V8 prints a path or a URL with a
column.
"""

from __future__ import annotations

from dataclasses import replace

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.spans import matched

_AT = compiled_on_use(r"(?:\t|   )at (?=\S)")
_LOADERS = compiled_on_use(r"(?:[^\s()/]*/(?!0x))*")  # class loader and module of a Java class: `app//java.base@21/`
_JAVA = compiled_on_use(
    r"(?P<function>[\w.$<>/-]+)\((?:(?:[\w.@$-]+/)?(?:(?P<path>[\w$.-]+):(?P<line>\d{1,9})"
    r"|[\w$-]+\.(?:java|kts?|scala|groovy|clj)|Native Method|Unknown Source|<\w+>))\)(?: ~?\[[^\[\]]*\])?$"
)
_DOTNET = compiled_on_use(
    r"(?P<function>[^\s(]+)\((?:[^\s()][^()]* [^()]*)?\)(?: in (?P<path>\S.*):line (?P<line>\d{1,9}))?$"
)
_V8_PLACE = r"(?:file://)?(?P<path>\S[^()]*):(?P<line>\d{1,9}):(?P<column>\d{1,9})"
_V8_CALL = compiled_on_use(
    rf"(?:async )?(?P<function>[^\s()][^()]*) \((?:{_V8_PLACE}|native|<anonymous>|index \d+|eval at .*)\)(?: \{{)?$"
)
_V8_BARE = compiled_on_use(rf"(?:async )?{_V8_PLACE}(?: \{{)?$")
_IS_PATH = compiled_on_use(r"[./\\<]|^node:")
_IS_SCRIPT = compiled_on_use(r"^(?:node|https?|webpack[\w-]*|<anonymous>)(?::|$)|\.(?:[cm]?[jt]sx?|vue|svelte)(?:\?|$)")
_MORE = compiled_on_use(
    r"\.\.\. \d+ (?:more|common frames omitted)\b|(?:^|\s)(?:Caused by|Suppressed): "
    r"|^\s*- (?:locked|waiting|parking|eliminated) |--- End of (?:inner exception )?stack trace"
)


class AtLines:
    """Parser of all three; one object per text."""

    is_seldom = True
    remembers = ()
    triggers = ("   at ", "\tat ")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the frame on a line."""
        begin = _AT.search(line) if "at " in line else None
        if begin is None:
            return None
        text, shift = line[begin.end() :].rstrip(), begin.end()
        frame = _java(number, text, shift) or _v8(number, text, shift) or _dotnet(number, text, shift)
        if frame is None:
            return None
        return Piece(frame.format, (replace(frame, start=shift - len("at ")),))

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is a cause, a lock, or a count of omitted frames."""
        return _MORE.search(line) is not None


def _java(number: int, text: str, shift: int) -> TextFrame | None:
    loaders = _LOADERS.match(text)
    match = _JAVA.match(text, loaders.end() if loaders is not None else 0)
    return matched(Format.JAVA, number, match, shift=shift) if match is not None else None


def _v8(number: int, text: str, shift: int) -> TextFrame | None:
    match = _V8_CALL.match(text)
    if match is not None and match["path"] is not None and not _IS_PATH.search(match["path"]):
        return None
    if match is None:
        match = _V8_BARE.match(text)
        # Other formats print locations in the same words.
        if match is None or not _IS_SCRIPT.search(match["path"]):
            return None
    return matched(Format.JAVASCRIPT, number, match, shift=shift)


def _dotnet(number: int, text: str, shift: int) -> TextFrame | None:
    match = _DOTNET.match(text)
    if match is None or "." not in match["function"]:
        return None
    return matched(Format.DOTNET, number, match, shift=shift)
