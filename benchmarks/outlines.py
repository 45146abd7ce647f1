"""How often a frame of a text is held to contradict its own file, and how often another version of that file.

    python benchmarks/outlines.py [--files N] [--other SITE_PACKAGES] [--package jax]

Every line of every code object of installed Python files stands for a frame of a traceback. In its own file none may be
contradicted. With `--other`, where the package is installed in another version, each is held against that one's file:
a line that is another one there should be told.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from framedex.model import Language
from framedex.sources.outline import Fit, Outlines


def main() -> None:
    """Measure and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=1500)
    parser.add_argument("--other", type=Path)
    parser.add_argument("--package", default="jax")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of the files that are compiled
    spec = importlib.util.find_spec(arguments.package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{arguments.package} is not installed.")
    site = Path(spec.origin).parents[1]
    files = sorted(site.rglob("*.py"))
    random.Random(1).shuffle(files)
    outlines = Outlines()
    verdicts: Counter[str] = Counter()
    began = time.perf_counter()
    for file in files[: arguments.files]:
        for name, line in _frames(file):
            verdicts[_fit(outlines, file, name, line)] += 1
    print(f"own files, {arguments.files}: {dict(verdicts)}, {time.perf_counter() - began:.1f} s")
    if arguments.other is not None:
        print(f"another version: {dict(_against(outlines, site, arguments.other, arguments.package))}")


def _against(outlines: Outlines, site: Path, other: Path, package: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for file in sorted((site / package).rglob("*.py")):
        there = other / file.relative_to(site)
        if not there.is_file() or "test" in file.name:
            continue
        ours, theirs = (path.read_text().split("\n") for path in (file, there))
        for name, line in _frames(file):
            is_same = line <= len(theirs) and ours[line - 1] == theirs[line - 1]
            verdict = _fit(outlines, there, name, line)
            counts[f"{'the same' if is_same else 'another'} line, {verdict}"] += 1
    return counts


def _fit(outlines: Outlines, file: Path, name: str, line: int) -> str:
    outline = outlines.of(str(file))
    verdict = outline.fit(name, line, Language.PYTHON) if outline is not None else Fit.UNKNOWN
    return verdict.name.lower()


def _frames(file: Path) -> Iterator[tuple[str, int]]:
    """The name and each line of every code object of a file."""
    try:
        pending = [compile(file.read_bytes(), str(file), "exec")]
    except (SyntaxError, ValueError, OSError):
        return
    while pending:
        code = pending.pop()
        pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for line in {line for *_, line in code.co_lines() if line}:
            yield code.co_name, line


if __name__ == "__main__":
    main()
