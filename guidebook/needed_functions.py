"""Write the functions that each JAX release needs: python -m guidebook.needed_functions [--captures FOLDER]

Records the guidebook's JAX programs on the mock TPU with each release, as `guidebook.record` does. A function is needed
if a call of it succeeded: JAX continues after the errors that it expects. The result is
`indexer/framedex/plugins/conformance/needed_functions.json`, for `framedex conform`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from framedex.captures import CaptureStream, capture_folders
from guidebook.environments import ROOT
from guidebook.plan import Environment, Plan, PythonRecipe, Recording
from guidebook.record import CAPTURES, record

TARGET = ROOT / "indexer" / "framedex" / "plugins" / "conformance" / "needed_functions.json"
# Releases that the guidebook does not record.
_MORE_RELEASES = (
    PythonRecipe("jax-0.9", version="3.11", packages=("jax==0.9.2",)),
    PythonRecipe("jax-0.11", version="3.13", packages=("jax==0.11.0",)),
)


def main() -> int:
    """Record what is not up to date, and write the file. Return 1 if a program failed."""
    parser = argparse.ArgumentParser(prog="python -m guidebook.needed_functions", description=main.__doc__)
    parser.add_argument("--captures", type=Path, default=CAPTURES, help="folder of the captures")
    captures: Path = parser.parse_args().captures
    recordings = _recordings(Plan.read())
    captures.mkdir(parents=True, exist_ok=True)
    failed = [outcome for outcome in record(recordings, captures, 2) if outcome.problem]
    for outcome in failed:
        print(f"{outcome.recording.name} failed: {outcome.problem}", file=sys.stderr)
    releases: dict[str, object] = {}
    for environment in sorted({recording.environment.name for recording in recordings}):
        programs = [captures / each.name for each in recordings if each.environment.name == environment]
        version, counts = _count_programs(programs)
        if version:
            releases[version] = {"programs": len(programs), "functions": dict(sorted(counts.items()))}
    TARGET.write_text(_document(releases), encoding="utf-8")
    return 1 if failed else 0


def _recordings(plan: Plan) -> list[Recording]:
    """The JAX programs on the mock, with the guidebook's releases and the others."""
    own = [each for each in plan.recordings if each.environment.name.startswith("jax-") and not each.environment.plugin]
    own = [each for each in own if each.environment.python.name != "legacy"]
    newest = [each for each in own if each.environment.name == "jax-0.10"]
    more = [
        replace(each, environment=Environment(recipe.name, recipe, None, each.environment.platform, ()))
        for recipe in _MORE_RELEASES
        for each in newest
    ]
    return own + more


def _count_programs(programs: list[Path]) -> tuple[str, Counter[str]]:
    """The JAX version of the captures of these programs, and by function the number of programs that need it."""
    version, counts = "", Counter[str]()
    for program in programs:
        needed: set[str] = set()
        for folder in capture_folders(program):
            stream = CaptureStream(folder)
            launch = stream.capture.metadata.launch
            version = launch.packages.get("jax", version) if launch else version
            batch = stream.next(stream.calls)
            functions = stream.capture.functions
            needed |= {functions[kind.function].name for kind in batch.kinds if not kind.error}
        # Not the functions of objects (PJRT_Memory_FunctionTable.get_user_data): no table has a slot for them.
        counts.update(name for name in needed if name.startswith("PJRT_") and "." not in name)
    return version, counts


def _document(releases: dict[str, object]) -> str:
    """The file's text, one release per line, oldest first."""
    ordered = sorted(releases, key=lambda version: [int(part) for part in version.split(".")])
    lines = ",\n".join(f"{json.dumps(version)}: {json.dumps(releases[version])}" for version in ordered)
    about = "Made by `python -m guidebook.needed_functions`; do not edit. Number of programs that need each function."
    return f'{{"about": {json.dumps(about)},\n"releases": {{\n{lines}\n}}}}\n'


if __name__ == "__main__":
    sys.exit(main())
