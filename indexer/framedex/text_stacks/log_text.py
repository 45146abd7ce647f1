"""Separate a line's own text from log prefixes, terminal control sequences and HTML.

Sources of the prefixes:
- glog's and absl's log_message, TensorFlow's and Chromium's logging, Python's `logging`, RFC 3164 and journalctl
- Docker Compose, kubectl, Kubernetes' container logs, torchrun, Ray, Open MPI, pdsh, pytest, dmesg

Sources of the control sequences: ECMA-48, and xterm's ctlseqs (operating system commands carry links and titles).
"""

from __future__ import annotations

import re
import string

from framedex.base.lazy import compile_on_use

_DAY = r"\d{4}[-/]\d\d[-/]\d\d"
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|trace|debug|info|warning|error|fatal)"
_SOURCE = r"[\w./+-]+:\d+\] "  # file.cc:12]
# A log with one JSON object per line: Docker's, Google Cloud's, Bunyan's, Loki's.
_JSON_FIELD = r"\s?\"[\w.@/-]{1,64}\":\s?(?:\"(?:[^\"\\]|\\.){0,256}\"|[\w.+-]{1,64})"
_NO_TRACEBACK = r"(?!(?>.*?File \\{1,8}\").*\\n(?!\"))"  # no multi-line traceback in any field
_JSON_TEXT = r"\s?\"(?:log|message|msg|textPayload|MESSAGE|line)\":\s?\"(?:\\t)?"
_JSON_END = compile_on_use(r"(?:[^\"\\]|\\[^n]|\\n(?!\"))*+")

_PREFIX = compile_on_use(
    "|".join(
        (
            rf"[IWEFDV]\d{{4}} [\d:.]+ +\d+ {_SOURCE}",
            rf"\[?{_DAY}[T ]{_TIME}(?:Z|[+-]\d\d:?\d\d)?\]?"
            # the separators that may follow a time
            rf"(?:: [IWEF] {_SOURCE}| std(?:out|err) [FP] | [\w.-]+ [\w./-]+\[\d+\]: "
            rf"|(?::? | - )\[?{_LEVEL}\]?(?: +[a-z_][\w.]*: | - |:? |$)|:? | - |$)",
            rf"[A-Z][a-z][a-z] [ \d]\d {_TIME} [\w.-]+ [\w./-]+(?:\[\d+\])?:(?: |$)",
            r"E(?:   |$)",
            r"[A-Za-z][\w.-]* *\|(?: |$)",
            r"\[rank\d+\]:(?: |$)|\[default\d+\]:|\[\d+(?:,\d+)?\]<std(?:out|err)>: ?",
            r"\((?:[\w.<>-]+ )?pid=\d+(?:, ip=[\w.:]+)?\)(?: |$)",
            r"<\d{1,3}>",
            r"(?:> ){1,8}|>$",  # mail and Markdown
            rf"\[ ?{_LEVEL} ?\]:?(?: |$)|##\[error\]",
            rf"\[[\d/.:]+:{_LEVEL}:[\w./-]+\(\d+\)\] ",
            r"\[(?!bt\])[A-Za-z][\w./-]*\](?: |$)|[a-z][\w.-]{0,62}\d:(?: |$)",  # a worker's or a host's name
            rf"\{{{_NO_TRACEBACK}(?:{_JSON_FIELD},){{0,32}}(?:\s?\"jsonPayload\":\s?\{{(?:{_JSON_FIELD},){{0,32}})?{_JSON_TEXT}",
            r"\[[A-Za-z][\w.-]*:\d+(?::\d+)*\] |\[pod/[\w./-]+\] |\[ *\d+\.\d{6}\] ",
        )
    )
)
_TIMESTAMP = compile_on_use(rf"{_DAY}|{_TIME}|(?<=\[)[ \d]*\.\d{{6}}(?=\])")
PREFIX_START_CHARACTERS = frozenset("[(<>#{" + string.digits + string.ascii_letters)
"""The characters that a prefix may begin with. A cheap test, as most lines of stacks are indented."""

_MAX_PREFIXES = 4  # nested prefixes


def find_text_start(line: str) -> int:
    """Return the column after all log prefixes of a line; the text's own indentation follows there."""
    start = 0
    for _ in range(_MAX_PREFIXES):
        match = _PREFIX.match(line, start)
        if match is None:
            break
        start = match.end()
    return start


def find_text_end(line: str, start: int) -> int:
    """Return the column where a line's own text ends: in a JSON object, before the closing quotation mark.

    Of all prefixes, only that of a JSON object has a brace.
    """
    found = _JSON_END.match(line, start) if "{" in line[:start] else None
    return found.end() if found is not None else len(line)


def find_log_source(prefix: str) -> str:
    """Return the part of a prefix that identifies the process and thread: the prefix without its time."""
    return _TIMESTAMP.sub("", prefix) if prefix else ""


_SEQUENCE = compile_on_use(r"\x1b(?:\[[ -?]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")


def remove_escapes(text: str) -> str:
    """Return the text without control sequences. Unterminated sequences are kept."""
    return _SEQUENCE.sub("", text) if "\x1b" in text else text


_ESCAPED_FRAME = compile_on_use(
    r"File &(?:quot|#34|#x22);|&lt;module&gt;|::\w{1,200}&lt;|operator&[lg]t;|[(:] ?&amp;&amp;"
)
_TAG = compile_on_use(r"</?(?:br|p|pre|code|div|span|li|td|tr)\b[^<>\n]{0,200}>", re.IGNORECASE)
_ENTITY = compile_on_use(r"&(quot|#34|#x22|apos|#39|#x27|lt|gt|nbsp|#160|amp);")
_CHARACTERS = {
    **dict.fromkeys(("quot", "#34", "#x22"), '"'),
    **dict.fromkeys(("apos", "#39", "#x27"), "'"),
    **dict.fromkeys(("nbsp", "#160"), " "),
    **{"lt": "<", "gt": ">", "amp": "&"},
}


def remove_html(text: str) -> str:
    """Return the text without tags and entities if its frames are escaped for HTML, else unchanged.

    Line numbers stay the same.
    """
    if "&" not in text or _ESCAPED_FRAME.search(text) is None:
        return text
    return _ENTITY.sub(lambda found: _CHARACTERS[found[1]], _TAG.sub("", text))
