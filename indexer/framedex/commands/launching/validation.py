"""Reports broken rules of the C API at the end of a recording: `framedex run --validate`.

The recording is indexed in a temporary folder, because the project's index may be in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from framedex.commands.output.render_check import check_lines, rule_traces
from framedex.ingest.temporary import temporary_index


def render_validation_report(captures: Sequence[Path]) -> Iterator[str]:
    """Yield lines about the broken rules in these captures, with their stacks, or one line if there are none.

    Raises FramedexError if a capture cannot be read.
    """
    with temporary_index(captures) as index:
        checks = [index.capture(capture.id).check() for capture in index.captures()]
        findings = [each for check in checks for each in check.findings if each.broken_by is not None]
        traces = rule_traces(findings, index.calls.trace)
    for line in check_lines(findings, traces, has_index=False):
        yield "".join(span.text for span in line)
    yield "Rules: docs/reference/validation.md" if findings else "No rule of the C API was broken in these calls."
    yield from dict.fromkeys(reason for check in checks for reason in check.unjudged)
