"""JAX's own test files on the mock TPU, against the CPU backend: passed, failed, skipped, and why each one failed.

    python benchmarks/jax_suite.py --jax CHECKOUT [SUITE...] [--slice I/N] [-k EXPRESSION] [--python PYTHON]

CHECKOUT is a clone of github.com/jax-ml/jax at the tag of the installed version (`git clone --depth 1 --branch
jax-v0.10.2`); only its tests/ is used, with the installed jax. SUITE is the name of a file without _test.py, with a
slice if it is large: `ffi`, `pjit:0/16`. Without one, every suite of SUITES runs.

Each file runs in a process of its own, with JAX_PLATFORMS=tpu,cpu and 8 devices; a crash or a test that takes too long
costs that test, and the rest of the file goes on in a new process. Outcomes are kept in --notes as they come, so an
interrupted run goes on where it was; --again forgets those of the suites named.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import framedex_native

ROOT = Path(__file__).parents[1]
NEEDED = {"pytest": "pytest", "absl": "absl-py", "hypothesis": "hypothesis", "cloudpickle": "cloudpickle",
          "flatbuffers": "flatbuffers"}  # fmt: skip
# The first twelve are those of the issue that the mock answers; slices keep a whole run below two hours.
SUITES = (
    *("ffi", "array", "api:0/2", "pjit:0/16", "xla_bridge", "aot", "compilation_cache", "python_callback"),
    *("export:0/8", "multi_device", "layout", "memories"),
    *("buffer_callback", "debugging_primitives", "jaxpr_effects", "mutable_array", "pmap:0/8", "shard_map:0/16"),
    *("lax_control_flow:0/8", "device", "pickle", "transfer_guard", "x64_context", "debug_nans"),
    *("custom_partitioning", "shard_alike", "multibackend", "clear_backends", "error_check", "extend"),
    *("garbage_collection_guard", "heap_profiler", "profiler", "checkify:0/4", "nn:0/8", "linalg:0/16", "svd:0/16"),
    *("eigh:0/8", "fft:0/8", "random_lax:0/16", "lax:0/64", "lax_numpy:0/64", "lax_numpy_indexing:0/16"),
    *("dtypes:0/8", "custom_linear_solve", "optimizers", "ode", "experimental_rnn", "cache_key", "monitoring"),
    *("pgle", "stateful_rng", "array_interoperability:0/8"),
)
PLATFORMS = ("mock", "cpu")
NO_TESTS = 5  # pytest's exit status when all tests were left out
WHOLE_FILE = "(file)"  # in place of a test's name, when none could be run
Outcome = dict[str, str]


@dataclass(frozen=True, slots=True)
class Suite:
    """A file of tests and the part of it that is run: every `step`-th test from the `first` on."""

    name: str
    first: int
    step: int

    def __str__(self) -> str:
        return self.name if self.step == 1 else f"{self.name} {self.first}/{self.step}"

    @property
    def slug(self) -> str:
        """Its name as part of a file's."""
        return f"{self.name}-{self.first}-{self.step}"


@dataclass(frozen=True, slots=True)
class Runner:
    """What every process is started with."""

    python: str
    library: Path
    tests: Path
    notes: Path
    test_seconds: float
    pytest_options: tuple[str, ...]
    recorded: bool
    behaviour: Path | None

    def run(self, suite: Suite, platform: str) -> Path:
        """Run what is left of a suite on a platform; return the file of its outcomes."""
        notes = self.notes / f"{suite.slug}.{platform}.jsonl"
        if WHOLE_FILE in outcomes(notes):
            notes.unlink()
        while True:
            begun = len(outcomes(notes))
            status, said = self._process(suite, platform, notes)
            died_in = unfinished(notes)
            if died_in is None:
                if not outcomes(notes) and status != NO_TESTS:
                    note(notes, WHOLE_FILE, "failed", f"no test was run: {said[-200:].strip()}")
                return notes
            reason = "took too long" if "Timeout (" in said else ended(status)
            note(notes, died_in, "crashed", f"{reason}: {tell_crash(said)}")
            (self.notes / f"{suite.slug}.{platform}.{begun}.log").write_text(said)

    def _process(self, suite: Suite, platform: str, notes: Path) -> tuple[int, str]:
        worker = Path(__file__).with_name("jax_suite_worker.py")
        part = f"{suite.first}/{suite.step}"
        file = self.tests / f"{suite.name}_test.py"
        # Elsewhere than in the checkout: its jax/ must not be imported instead of the installed one.
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [self.python, "-P", worker, notes, str(self.test_seconds), part, file, *self.pytest_options],
                env=self._environment(platform, Path(folder)), cwd=folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
        return done.returncode, done.stdout

    def _environment(self, platform: str, folder: Path) -> dict[str, str]:
        steering = ("JAX_", "TPU_", "FRAMEDEX_")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
        if platform == "cpu":
            return plain | {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
        record = {"FRAMEDEX_OUT": str(folder / "captures")} if self.recorded else {"FRAMEDEX_RECORD": "0"}
        mock = {"TPU_LIBRARY_PATH": str(self.library), "FRAMEDEX_DEVICES": "8"}
        # JAX looks for TPU chips on the PCI bus before it sets itself up as on a Cloud TPU machine; tests expect that.
        behaviour = {"FRAMEDEX_BEHAVIOUR": str(self.behaviour)} if self.behaviour else {}
        return plain | {"JAX_PLATFORMS": "tpu,cpu", "JAX_FORCE_TPU_INIT": "1"} | mock | record | behaviour


def main() -> None:
    """Run the suites, then print the table and the failures."""
    options = _options()
    check_needed(options.python)
    tests = check_checkout(options.jax, options.python)
    options.notes.mkdir(parents=True, exist_ok=True)
    expression = ("-k", options.k) if options.k else ()
    library = (options.library or framedex_native.library_path()).absolute()
    runner = Runner(
        options.python, library, tests, options.notes, options.test_seconds, expression, options.recorded,
        options.behaviour.absolute() if options.behaviour else None,
    )  # fmt: skip
    suites = [suite_of(text, options.slice) for text in options.suites or dict.fromkeys(SUITES)]
    found: dict[Suite, dict[str, dict[str, Outcome]]] = {}
    for suite in suites:
        found[suite] = {}
        for platform in options.platforms.split(","):
            if options.again:
                (options.notes / f"{suite.slug}.{platform}.jsonl").unlink(missing_ok=True)
            found[suite][platform] = outcomes(runner.run(suite, platform))
            print(f"{suite} on {platform}: {counted(found[suite][platform])}", file=sys.stderr, flush=True)
    print(report(found))


def suite_of(text: str, part: str | None) -> Suite:
    """`pjit:0/16`, or `pjit` with the slice of the command line."""
    name, _, own = text.partition(":")
    first, _, step = (own or part or "0/1").partition("/")
    return Suite(name, int(first), int(step))


def check_needed(python: str) -> None:
    """End with what to install unless the interpreter has what JAX's tests import."""
    program = f"import importlib.util as u; print(*(n for n in {list(NEEDED)} if not u.find_spec(n)))"
    missing = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    if missing:
        sys.exit(f"JAX's tests need more: {python} -m pip install {' '.join(NEEDED[name] for name in missing)}")


def check_checkout(checkout: Path, python: str) -> Path:
    """The folder of tests, of the version that is installed; another version tests another JAX."""
    found = re.search(r'^_version = "([\d.]+)"', (checkout / "jax" / "version.py").read_text(), re.MULTILINE)
    program = "import importlib.metadata as m; print(m.version('jax'))"
    installed = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip()
    if found is None or found[1] != installed:
        sys.exit(f"{checkout} is JAX {found and found[1]}; installed is {installed}: git checkout jax-v{installed}")
    return (checkout / "tests").absolute()


# --- notes ------------------------------------------------------------------------------------------------------------


def outcomes(notes: Path) -> dict[str, Outcome]:
    """The outcome of each test that has one; of a test with several (its own, its teardown's) the worst."""
    found: dict[str, Outcome] = {}
    for line in notes.read_text().splitlines() if notes.exists() else []:
        entry = json.loads(line)
        before = found.get(entry["test"])
        if entry["outcome"] != "started" and (before is None or before["outcome"] == "passed"):
            found[entry["test"]] = entry
    return found


def unfinished(notes: Path) -> str | None:
    """The test in which the last process ended, if it did."""
    lines = notes.read_text().splitlines() if notes.exists() else []
    last = json.loads(lines[-1]) if lines else {"outcome": ""}
    return last["test"] if last["outcome"] == "started" else None


def note(notes: Path, test: str, outcome: str, reason: str) -> None:
    with notes.open("a") as file:
        file.write(json.dumps({"test": test, "outcome": outcome, "reason": reason, "seconds": 0}) + "\n")


def ended(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def tell_crash(said: str) -> str:
    """The line that tells most of how a process died: a fatal log line, or the innermost frame of a stack dump."""
    fatal = re.search(r"^(F\d{4} .*|.*(?:Check failed|terminate called|Fatal Python error).*)$", said, re.MULTILINE)
    current = re.search(r"most recent call first\):\n(.*(?:\n.*){0,3})", said)
    return (fatal[1] if fatal else " < ".join(current[1].split("\n")) if current else said[-200:]).strip()


# --- the report -------------------------------------------------------------------------------------------------------


def report(found: dict[Suite, dict[str, dict[str, Outcome]]]) -> str:
    """A Markdown table of counts, then the mock's failures by reason, most frequent first."""
    lines = ["| tests | mock: passed / failed / skipped | CPU backend | fail on the mock alone |", "|---|---|---|---|"]
    for suite, platforms in found.items():
        alone = failures(platforms.get("mock", {})).keys() - failures(platforms.get("cpu", {})).keys()
        counts = [counted(platforms[name]) if name in platforms else "-" for name in PLATFORMS]
        lines.append(f"| {suite} | {' | '.join(counts)} | {len(alone)} |")
    groups: dict[str, list[str]] = defaultdict(list)
    for suite, platforms in found.items():
        on_cpu = failures(platforms.get("cpu", {}))
        for test, outcome in failures(platforms.get("mock", {})).items():
            also = " (on CPU, too)" if test in on_cpu else ""
            groups[kind_of(outcome["reason"])].append(f"{suite.name}: {test}{also}")
    for reason, tests in sorted(groups.items(), key=lambda group: -len(group[1])):
        lines += ["", f"{len(tests)} x {reason}", *(f"- {test}" for test in tests)]
    return "\n".join(lines)


def counted(found: dict[str, Outcome]) -> str:
    """`56 / 0 / 9`; crashes are failures, and said so."""
    counts = Counter(outcome["outcome"] for outcome in found.values())
    crashed = f" ({counts['crashed']} crashed)" if counts["crashed"] else ""
    return f"{counts['passed']} / {counts['failed'] + counts['crashed']}{crashed} / {counts['skipped']}"


def failures(found: dict[str, Outcome]) -> dict[str, Outcome]:
    return {test: outcome for test, outcome in found.items() if outcome["outcome"] in ("failed", "crashed")}


def kind_of(reason: str) -> str:
    """A reason without what differs from test to test: addresses, numbers, all but the first telling line."""
    line = next(iter(telling(reason.splitlines())), "no reason given")
    return re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r"b'[^']{40,}.*", "b'...", line))[:200]


def telling(lines: Sequence[str]) -> Iterable[str]:
    """Lines that say something: NumPy's comparisons begin with an empty line and a headline."""
    return (line.strip() for line in lines if line.strip() and line.strip() not in ("AssertionError:", "E"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--jax", type=Path, required=True, metavar="CHECKOUT")
    parser.add_argument("--slice", metavar="I/N", help="for suites named without one")
    parser.add_argument("-k", metavar="EXPRESSION", help="as pytest's")
    parser.add_argument("--python", default=sys.executable, help="the interpreter with jax that runs the tests")
    parser.add_argument("--library", type=Path, help="another libtpu.so than the installed mock")
    parser.add_argument("--platforms", default=",".join(PLATFORMS), help="mock, cpu, or both (default)")
    parser.add_argument("--recorded", action="store_true", help="record the mock's runs")
    parser.add_argument("--behaviour", type=Path, metavar="FILE", help="run the mock under the behaviours of this file")
    parser.add_argument("--test-seconds", type=float, default=120, help="the limit of one test")
    parser.add_argument("--notes", type=Path, default=ROOT / "build" / "jax-suite", help="the folder of outcomes")
    parser.add_argument("--again", action="store_true", help="forget the outcomes of these suites first")
    return parser.parse_args()


if __name__ == "__main__":
    main()
