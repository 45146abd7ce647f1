"""JUnit XML of a report, for the test views of CI systems."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from framedex.plugins.conformance.model import FAILURES, CheckResult, Report, Status

_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


def build_junit(report: Report) -> str:
    """A test suite with a test case per check. Unsupported and skipped checks are skipped tests."""
    counts = report.counts()
    totals = {
        "tests": len(report.results),
        "failures": counts[Status.FAIL],
        "errors": counts[Status.CRASH] + counts[Status.HANG],
        "skipped": counts[Status.UNSUPPORTED] + counts[Status.SKIPPED],
    }
    suite = ElementTree.Element(
        "testsuite",
        {"name": f"conformance of {Path(report.plugin).name}"} | {k: str(v) for k, v in totals.items()},
    )
    for result in report.results:
        group, _, name = result.check.name.partition(".")
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": group, "name": _remove_invalid_characters(name), "time": f"{result.seconds:.3f}"},
        )
        if result.status in FAILURES:
            kind = "failure" if result.status is Status.FAIL else "error"
            child = ElementTree.SubElement(
                case, kind, {"message": _remove_invalid_characters(result.detail), "type": result.status.value}
            )
            child.text = _remove_invalid_characters(
                "\n".join([result.check.rule, *format_stack_texts(result), result.output])
            )
        elif result.status is not Status.PASS:
            ElementTree.SubElement(case, "skipped", {"message": _remove_invalid_characters(result.detail)})
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, "unicode") + "\n"


def format_stack_texts(result: CheckResult) -> list[str]:
    """The frames of a crash or hang: the function, or the address in its binary."""
    return [
        f"#{number} {frame.function or hex(frame.address)} in {Path(frame.binary).name or '?'}"
        for number, frame in enumerate(result.stack)
    ]


def _remove_invalid_characters(text: str) -> str:
    return _INVALID.sub("?", text)
