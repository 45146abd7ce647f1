"""JAX's own test files on the mock TPU, against the CPU backend: passed, failed, skipped, and the reason of failures.

Each file runs in a process of its own, with JAX_PLATFORMS=tpu,cpu and 8 devices. A crash, or a test over its time
limit, fails only that test. The rest of the file continues in a new process. Outcomes are saved at once, so an
interrupted run resumes at the next test.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

import framedex_native
from benchmarks.figures import Figure
from benchmarks.processes import ROOT, neutral_environment

REQUIRED_PACKAGES = {"pytest": "pytest", "absl": "absl-py", "hypothesis": "hypothesis", "cloudpickle": "cloudpickle",
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
NO_TESTS = 5  # pytest's exit status without tests
WHOLE_FILE = "(file)"  # in place of a test's name, if none could run
Outcome = dict[str, str]


@dataclass(frozen=True, slots=True)
class Suite:
    """A file of tests and its slice: every `step`-th test from the `first`."""

    name: str
    first: int
    step: int

    def __str__(self) -> str:
        return self.name if self.step == 1 else f"{self.name} {self.first}/{self.step}"

    @property
    def slug(self) -> str:
        """The name of the suite for file names."""
        return f"{self.name}-{self.first}-{self.step}"


@dataclass(frozen=True, slots=True)
class Runner:
    """Options of every test process."""

    python: str
    library: Path
    tests: Path
    notes: Path
    test_seconds: float
    pytest_options: tuple[str, ...]
    recorded: bool
    behaviour: Path | None

    def run(self, suite: Suite, platform: str) -> Path:
        """Run the unfinished tests of a suite on a platform; return the file of its outcomes."""
        notes = self.notes / f"{suite.slug}.{platform}.jsonl"
        if WHOLE_FILE in _read_outcomes(notes):
            notes.unlink()
        while True:
            begun = len(_read_outcomes(notes))
            status, output = self._process(suite, platform, notes)
            crashed_test = _unfinished_test(notes)
            if crashed_test is None:
                if not _read_outcomes(notes) and status != NO_TESTS:
                    _append_outcome(notes, WHOLE_FILE, "failed", f"no test was run: {output[-200:].strip()}")
                return notes
            reason = "took too long" if "Timeout (" in output else _format_status(status)
            _append_outcome(notes, crashed_test, "crashed", f"{reason}: {_find_crash_reason(output)}")
            (self.notes / f"{suite.slug}.{platform}.{begun}.log").write_text(output)

    def _process(self, suite: Suite, platform: str, notes: Path) -> tuple[int, str]:
        worker = Path(__file__).with_name("jax_suite_worker.py")
        part = f"{suite.first}/{suite.step}"
        file = self.tests / f"{suite.name}_test.py"
        # Not in the checkout: its jax/ must not be imported instead of the installed one.
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [self.python, "-P", worker, notes, str(self.test_seconds), part, file, *self.pytest_options],
                env=self._environment(platform, Path(folder)), cwd=folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
        return done.returncode, done.stdout

    def _environment(self, platform: str, folder: Path) -> dict[str, str]:
        plain = neutral_environment()
        if platform == "cpu":
            return plain | {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
        record = {"FRAMEDEX_OUT": str(folder / "captures")} if self.recorded else {"FRAMEDEX_RECORD": "0"}
        mock = {"TPU_LIBRARY_PATH": str(self.library), "FRAMEDEX_DEVICES": "8"}
        # JAX looks for TPU chips on the PCI bus before it configures a Cloud TPU machine, and tests expect that.
        behaviour = {"FRAMEDEX_BEHAVIOUR": str(self.behaviour)} if self.behaviour else {}
        return plain | {"JAX_PLATFORMS": "tpu,cpu", "JAX_FORCE_TPU_INIT": "1"} | mock | record | behaviour


@click.command()
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--jax", "checkout", type=click.Path(exists=True, path_type=Path), required=True, help="Clone of jax.")
@click.option("--slice", "part", metavar="I/N", help="Run every N-th test from the I-th of suites without a slice.")
@click.option("-k", "expression", metavar="EXPRESSION", help="Select tests as pytest's -k does.")
@click.option("--python", default=sys.executable, help="Run the tests with this interpreter, which has jax.")
@click.option("--library", type=click.Path(path_type=Path), help="Use this libtpu.so in place of the installed mock.")
@click.option("--platforms", default=",".join(PLATFORMS), show_default=True, help="Run on mock, cpu, or both.")
@click.option("--recorded", is_flag=True, help="Record the runs on the mock.")
@click.option("--behaviour", type=click.Path(path_type=Path), help="Run the mock with the behaviours of this file.")
@click.option("--test-seconds", type=float, default=120, show_default=True, help="Limit the time of one test.")
@click.option("--notes", type=click.Path(path_type=Path), default=ROOT / "build" / "jax-suite", help="Outcome folder.")
@click.option("--again", is_flag=True, help="Delete earlier outcomes of these suites first.")
def jax_suite(
    suites: tuple[str, ...],
    checkout: Path,
    part: str | None,
    expression: str | None,
    python: str,
    library: Path | None,
    platforms: str,
    recorded: bool,
    behaviour: Path | None,
    test_seconds: float,
    notes: Path,
    again: bool,
) -> list[Figure]:
    """Run JAX's own tests on the mock TPU and on the CPU backend, and count the outcomes.

    SUITE is the name of a test file without _test.py, with a slice if it is large: `ffi`, `pjit:0/16`. Without a
    suite, all suites run in about two hours. --jax takes a clone of github.com/jax-ml/jax at the tag of the installed
    version; only its tests/ is used.
    """
    _check_packages(python)
    tests = _check_checkout(checkout, python)
    notes.mkdir(parents=True, exist_ok=True)
    runner = Runner(
        python,
        (library or framedex_native.library_path()).absolute(),
        tests,
        notes,
        test_seconds,
        ("-k", expression) if expression else (),
        recorded,
        behaviour.absolute() if behaviour else None,
    )
    found: dict[Suite, dict[str, dict[str, Outcome]]] = {}
    for suite in [_parse_suite(text, part) for text in suites or dict.fromkeys(SUITES)]:
        found[suite] = {}
        for platform in platforms.split(","):
            if again:
                (notes / f"{suite.slug}.{platform}.jsonl").unlink(missing_ok=True)
            found[suite][platform] = _read_outcomes(runner.run(suite, platform))
            print(f"{suite} on {platform}: {_format_counts(found[suite][platform])}", file=sys.stderr, flush=True)
    print(_format_report(found))
    return _sum_outcomes(found)


def _sum_outcomes(found: dict[Suite, dict[str, dict[str, Outcome]]]) -> list[Figure]:
    counts = {
        name: Counter(each["outcome"] for of in found.values() for each in of.get(name, {}).values())
        for name in PLATFORMS
    }
    return [
        Figure(f"tests {outcome}", mock, "tests", "CPU backend", mock / counts["cpu"][outcome] if cpu else None)
        for outcome in ("passed", "failed", "crashed", "skipped")
        for mock, cpu in [(counts["mock"][outcome], counts["cpu"][outcome])]
    ]


def _parse_suite(text: str, part: str | None) -> Suite:
    """Parse `pjit:0/16`, or `pjit` with the slice of the command line."""
    name, _, own = text.partition(":")
    first, _, step = (own or part or "0/1").partition("/")
    return Suite(name, int(first), int(step))


def _check_packages(python: str) -> None:
    """Exit with an install command if the interpreter lacks packages that JAX's tests import."""
    program = f"import importlib.util as u; print(*(n for n in {list(REQUIRED_PACKAGES)} if not u.find_spec(n)))"
    missing = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    if missing:
        sys.exit(
            f"JAX's tests need more: {python} -m pip install {' '.join(REQUIRED_PACKAGES[name] for name in missing)}"
        )


def _check_checkout(checkout: Path, python: str) -> Path:
    """The folder of tests; exit if the checkout has another version than the installed JAX."""
    found = re.search(r'^_version = "([\d.]+)"', (checkout / "jax" / "version.py").read_text(), re.MULTILINE)
    program = "import importlib.metadata as m; print(m.version('jax'))"
    installed = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip()
    if found is None or found[1] != installed:
        sys.exit(f"{checkout} is JAX {found and found[1]}; installed is {installed}: git checkout jax-v{installed}")
    return (checkout / "tests").absolute()


# --- outcomes ---------------------------------------------------------------------------------------------------------


def _read_outcomes(notes: Path) -> dict[str, Outcome]:
    """The outcome of each finished test; the worst one if a test has several (its own, its teardown's)."""
    found: dict[str, Outcome] = {}
    for line in notes.read_text().splitlines() if notes.exists() else []:
        entry = json.loads(line)
        before = found.get(entry["test"])
        if entry["outcome"] != "started" and (before is None or before["outcome"] == "passed"):
            found[entry["test"]] = entry
    return found


def _unfinished_test(notes: Path) -> str | None:
    """The test in which the last process ended, or None."""
    lines = notes.read_text().splitlines() if notes.exists() else []
    last = json.loads(lines[-1]) if lines else {"outcome": ""}
    return last["test"] if last["outcome"] == "started" else None


def _append_outcome(notes: Path, test: str, outcome: str, reason: str) -> None:
    with notes.open("a") as file:
        file.write(json.dumps({"test": test, "outcome": outcome, "reason": reason, "seconds": 0}) + "\n")


def _format_status(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def _find_crash_reason(output: str) -> str:
    """The most informative line of a crash: a fatal log line, or the innermost frame of a stack dump."""
    fatal = re.search(r"^(F\d{4} .*|.*(?:Check failed|terminate called|Fatal Python error).*)$", output, re.MULTILINE)
    current = re.search(r"most recent call first\):\n(.*(?:\n.*){0,3})", output)
    return (fatal[1] if fatal else " < ".join(current[1].split("\n")) if current else output[-200:]).strip()


# --- the report -------------------------------------------------------------------------------------------------------


def _format_report(found: dict[Suite, dict[str, dict[str, Outcome]]]) -> str:
    """Format a Markdown table of counts, then the mock's failures by reason, most frequent first."""
    lines = ["| tests | mock: passed / failed / skipped | CPU backend | fail on the mock alone |", "|---|---|---|---|"]
    for suite, platforms in found.items():
        alone = _failures(platforms.get("mock", {})).keys() - _failures(platforms.get("cpu", {})).keys()
        counts = [_format_counts(platforms[name]) if name in platforms else "-" for name in PLATFORMS]
        lines.append(f"| {suite} | {' | '.join(counts)} | {len(alone)} |")
    groups: dict[str, list[str]] = defaultdict(list)
    for suite, platforms in found.items():
        on_cpu = _failures(platforms.get("cpu", {}))
        for test, outcome in _failures(platforms.get("mock", {})).items():
            also = " (on CPU, too)" if test in on_cpu else ""
            groups[_reason_kind(outcome["reason"])].append(f"{suite.name}: {test}{also}")
    for reason, tests in sorted(groups.items(), key=lambda group: -len(group[1])):
        lines += ["", f"{len(tests)} x {reason}", *(f"- {test}" for test in tests)]
    return "\n".join(lines)


def _format_counts(found: dict[str, Outcome]) -> str:
    """Format counts as `56 / 0 / 9`; crashes count as failures and are marked."""
    counts = Counter(outcome["outcome"] for outcome in found.values())
    crashed = f" ({counts['crashed']} crashed)" if counts["crashed"] else ""
    return f"{counts['passed']} / {counts['failed'] + counts['crashed']}{crashed} / {counts['skipped']}"


def _failures(found: dict[str, Outcome]) -> dict[str, Outcome]:
    return {test: outcome for test, outcome in found.items() if outcome["outcome"] in ("failed", "crashed")}


def _reason_kind(reason: str) -> str:
    """The first informative line of a reason, without addresses and numbers."""
    line = next(iter(_meaningful_lines(reason.splitlines())), "no reason given")
    return re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r"b'[^']{40,}.*", "b'...", line))[:200]


def _meaningful_lines(lines: Sequence[str]) -> Iterable[str]:
    """Lines with content: NumPy's comparisons begin with an empty line and a headline."""
    return (line.strip() for line in lines if line.strip() and line.strip() not in ("AssertionError:", "E"))
