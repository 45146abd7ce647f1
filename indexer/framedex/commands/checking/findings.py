"""What a look at one thing has found, and looking without ever failing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from framedex.errors import FramedexError


@dataclass(frozen=True, slots=True)
class Finding:
    """What there is of a subject; where something is missing or wrong, the remedy, which may be empty."""

    subject: str
    text: str
    remedy: str = ""
    is_well: bool = True


Look = Callable[[], Iterable[Finding]]


def found_by(looks: Sequence[tuple[str, Look]]) -> Iterator[Finding]:
    """What all of them find, in their order: each is given with the subject that it is about. Never raises.

    They look side by side, as most wait for an interpreter that they have started.
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
    except Exception as error:  # of whatever kind: what is looked at may be broken in any way
        findings.append(Finding(subject, f"It cannot be looked at: {type(error).__name__}: {error}.", is_well=False))
    return findings
