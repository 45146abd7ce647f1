"""Replay the sessions in README.md and docs/, and write the commands' current output into the pages.

python docs/make_sessions.py [PAGE...]

A page is replayed from beginning to end, in an empty folder:

- a fence below `<!-- file: train.py -->` is written to that file;

- `<!-- files: tutorial.md -->` writes the files of that page in docs/;

- a fence below `<!-- run -->` runs as a bash script, and must exit with status 0;

- in a fence of the language `console`, each line `$ COMMAND` is run, and its output (both streams) follows.

Output may be omitted: a line `...` stands for any lines, `...` in a line for any text. Times, dates and addresses may
differ from the page.

`<!-- jaxlib 0.12.0.1 -->` at the top of a page is the version of its sessions; with another version, output is not
compared.

A test replays every page. This script writes the output into the page, line by line where the page has that line. A
block that no longer matches gets the whole output, to be shortened by hand.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

DOCS = Path(__file__).resolve().parent
TOOLS = Path(sys.executable).parent
"""The folder of the pages' commands."""

HOME = "/home/me"
"""On pages, the folder in which a page is replayed; it is the home folder."""

CHECKOUT = "~/framedex"
"""On pages, framedex's own checkout."""

_FENCE = re.compile(r"(?:^<!-- (?P<order>[^\n]*) -->\n)?^```(?P<language>[\w+-]*)\n(?P<text>.*?)^```$", re.M | re.S)
_FILES_OF = re.compile(r"^<!-- files: (\S+) -->$", re.M)
_JAXLIB_MARK = re.compile(r"^<!-- jaxlib ([\d.]+) -->$", re.M)
_ANY = "..."
_COMMIT = re.compile(r"\b([0-9a-f]{10})[0-9a-f]{30}\b")
# Text that varies from run to run, and its placeholder for comparisons.
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?"), "DATE"),
    (re.compile(r"~?\d[\d.,]* ?(ns|µs|ms|s|min)\b"), "TIME"),
    (re.compile(r"\b\d+\.\d{6}\b"), "SECONDS"),
    (re.compile(r"\b\d+\.\d\b(?=[ %])"), "SHARE"),
    (re.compile(r"\+0x[0-9a-f]+"), "+OFFSET"),
    (re.compile(r"\b0x[0-9a-f]{8,}"), "ADDRESS"),
    (re.compile(r"\b[\d.]+ [KMG]iB\b"), "SIZE"),
    (re.compile(r"<\d+ bytes>"), "BYTES"),
)


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block of a page."""

    order: str
    language: str
    text: str
    begin: int
    """The position of its text in the page."""

    line: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A command whose output differs from its page, or that fails unexpectedly."""

    page: str
    line: int
    command: str
    problem: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: $ {self.command}\n{self.problem}"


def pages() -> list[Path]:
    """The pages with sessions."""
    candidates = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [page for page in candidates if any(_is_played(each) for each in parse_fences(page.read_text()))]


def parse_fences(text: str) -> Iterator[Fence]:
    """The fenced blocks of a page, in order."""
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("text")) + 1
        yield Fence(found["order"] or "", found["language"], found["text"], found.start("text"), line)


def _is_played(fence: Fence) -> bool:
    return fence.language == "console" or fence.order == "run"


def replay_page(page: Path, folder: Path) -> tuple[str, list[Difference]]:
    """Replay a page in an empty folder: return its correct text, and the differences."""
    (folder.parent / "framedex").symlink_to(DOCS.parent)
    text, place = page.read_text(), str(page.relative_to(DOCS.parent))
    told = _JAXLIB_MARK.search(text)
    is_compared = told is None or version("jaxlib") == told[1]
    for other in _FILES_OF.findall(text):
        for fence in parse_fences((DOCS / other).read_text()):
            if fence.order.startswith("file: "):
                _write_file(fence, folder)
    differences: list[Difference] = []
    changed: list[tuple[Fence, str]] = []
    for fence in parse_fences(text):
        if fence.order.startswith("file: "):
            _write_file(fence, folder)
        elif fence.order == "run":
            status, output = _run_script(fence.text, folder)
            if status:
                problem = f"It ends with status {status}:\n{output}"
                differences.append(Difference(place, fence.line, "; ".join(fence.text.splitlines()), problem))
        elif fence.language == "console":
            block, changes = _replay_session(fence, folder, place)
            if is_compared:
                differences += changes
                changed.append((fence, block))
    for fence, block in reversed(changed):
        text = text[: fence.begin] + block + text[fence.begin + len(fence.text) :]
    return text, differences


def _replay_session(fence: Fence, folder: Path, place: str) -> tuple[str, list[Difference]]:
    """Run the commands of a session: return its correct text, and the differences."""
    blocks: list[str] = []
    differences: list[Difference] = []
    for line, command, documented in _fence_commands(fence):
        _, output = _run_script(command, folder)
        printed = output.splitlines()
        kept = update_documented_lines(documented, printed)
        if kept is None:
            differences.append(Difference(place, line, command, "It prints now:\n" + "\n".join(printed)))
        blocks.append("\n".join([f"$ {command}", *(printed if kept is None else kept)]).rstrip() + "\n")
    return "\n".join(blocks), differences


def _write_file(fence: Fence, folder: Path) -> None:
    (folder / fence.order.removeprefix("file: ")).write_text(fence.text)


def _fence_commands(fence: Fence) -> Iterator[tuple[int, str, list[str]]]:
    """The line of each command, the command, and its documented output."""
    lines = fence.text.splitlines()
    begins = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for begin, end in pairwise([*begins, len(lines)]):
        documented = lines[begin + 1 : end]
        while documented and not documented[-1]:
            documented.pop()
        yield fence.line + begin, lines[begin].removeprefix("$ "), documented


def _run_script(script: str, folder: Path) -> tuple[int, str]:
    """Its exit status and its output on both streams, with the folder's name on pages."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("FRAMEDEX_", "JAX_", "XLA_", "TPU_"))
    }
    environment.pop("XDG_CACHE_HOME", None)
    environment |= {"HOME": str(folder.parent), "PATH": str(TOOLS) + os.pathsep + environment["PATH"]}
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    packages = str(TOOLS.parent / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages")
    shown = ran.stdout
    for path, short in ((folder.parent, HOME), (packages, "site-packages"), (f"{TOOLS}/", ""), (DOCS.parent, CHECKOUT)):
        shown = shown.replace(str(path), short)
    return ran.returncode, _COMMIT.sub(r"\1…", shown)


def update_documented_lines(documented: list[str], printed: list[str]) -> list[str] | None:
    """The documented lines with current output; None if lines are missing or additional."""
    kept: list[str] = []
    at, may_skip = 0, False
    for line in documented:
        if line.strip() == _ANY:
            kept.append(line)
            may_skip = True
            continue
        fitting = re.compile(".*".join(re.escape(_line_shape(part)) for part in line.split(_ANY)))
        while at < len(printed) and not fitting.fullmatch(_line_shape(printed[at])):
            if not may_skip:
                return None
            at += 1
        if at == len(printed):
            return None
        kept.append(_elide_like(printed[at], line))
        at, may_skip = at + 1, False
    return kept if may_skip or at == len(printed) else None


def _elide_like(printed: str, documented: str) -> str:
    """A printed line with the elisions of the documented line, whose figures may differ."""
    parts = documented.split(_ANY)
    if len(parts) == 1:
        return printed
    groups = (f"(?P<part{number}>\\s*{_line_pattern(part)}\\s*)" for number, part in enumerate(parts))
    found = re.fullmatch(".*?".join(groups), printed)
    return documented if found is None else _ANY.join(found[f"part{number}"] for number in range(len(parts)))


def _line_pattern(part: str) -> str:
    """A regular expression for printed text of the same shape."""
    varying = {re.escape(name): pattern.pattern for pattern, name in _VARYING}
    shape = re.escape(_line_shape(part)).replace("\\ ", "\\s+")
    return re.sub("|".join(map(re.escape, varying)), lambda found: varying[found[0]], shape)


def _line_shape(line: str) -> str:
    """A line without varying text and column widths."""
    for pattern, name in _VARYING:
        line = pattern.sub(name, line)
    return re.sub(r"\s+", " ", line).strip()


def main(names: list[str]) -> None:
    """Replay the pages with these file names, or all pages, and update them."""
    played = {page.name: page for page in pages()}
    if unknown := [name for name in names if name not in played]:
        sys.exit(f"no page with sessions has the name {', '.join(unknown)}; the pages are {', '.join(played)}")
    for page in [played[name] for name in names or played]:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home, page.stem)
            folder.mkdir()
            text, differences = replay_page(page, folder)
        page.write_text(text)
        for each in differences:
            print(each)


if __name__ == "__main__":
    main(sys.argv[1:])
