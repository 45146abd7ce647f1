"""Findings of `framedex doctor`, and a runner that never fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from framedex.errors import FramedexError


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: its subject, a text, and the remedy for a problem, which may be empty."""

    subject: str
    text: str
    remedy: str = ""
    is_well: bool = True


Look = Callable[[], Iterable[Finding]]


def found_by(looks: Sequence[tuple[str, Look]]) -> Iterator[Finding]:
    """Run all checks, and yield their findings in the order of the checks. Never raises.

    `looks` pairs each check with its subject. The checks run in parallel, because most wait for an interpreter that
    they start.
    """
    with ThreadPoolExecutor(len(looks)) as threads:
        for findings in threads.map(lambda look: _found(*look), looks):
            yield from findings


def _found(subject: str, look: Look) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(look())
    except FramedexError as error:
        findings.append(Finding(subject, error.message, error.remedy, is_well=False))
    except Exception as error:  # any kind: a checked component may be broken in any way
        findings.append(Finding(subject, f"It cannot be looked at: {type(error).__name__}: {error}.", is_well=False))
    return findings
