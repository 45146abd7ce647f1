"""CHANGELOG.md: a section for each release, the newest first, and its errors.

python scripts/release/changelog.py: check it, and that every release tag of this repository has a section

python scripts/release/changelog.py v0.2.0: also print the section of this tag as release notes

A section begins with the heading `## 0.2.0`; the tag `v0.2.0` releases it. So a release needs no typed version, and the
newest section gives a checkout's next version (source_version.py). Exits with 1 and a line for each problem.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "CHANGELOG.md"

Release = tuple[int, int, int]

_NUMBERS = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
_TAG = re.compile(f"v{_NUMBERS}")
_HEADING = re.compile(f"## {_NUMBERS}")
# Blocks that must not be joined with the previous line: lists, headings, tables, quotations, fences.
_BLOCK_START = re.compile(r"\s*([-*+] |\d+[.)] |#|\||>|```)")
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|#")


@dataclass(frozen=True)
class ReleaseSection:
    """The changelog entry of a release: the line number of its heading, and the lines below."""

    release: Release
    line: int
    lines: tuple[str, ...]


def release_of_tag(tag: str) -> Release | None:
    """The release of a tag: (0, 2, 0) for v0.2.0; None for other tags."""
    found = _TAG.fullmatch(tag)
    return _release_numbers(found) if found else None


def text_of(release: Release) -> str:
    return ".".join(map(str, release))


def sections(text: str) -> list[ReleaseSection]:
    """The sections of a changelog in order. Other headings belong to no section."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    found = []
    for start, end in pairwise([*starts, len(lines)]):
        if heading := _HEADING.fullmatch(lines[start]):
            found.append(ReleaseSection(_release_numbers(heading), start + 1, tuple(lines[start + 1 : end])))
    return found


def problems(text: str, tags: list[str], folder: Path) -> Iterator[str]:
    """The problems of a folder's changelog, in a repository with these tags: a line for each."""
    if not text.startswith("# Changelog\n"):
        yield f"{NAME}:1: the first line must be: # Changelog"
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## ") and not _HEADING.fullmatch(line):
            yield f"{NAME}:{number}: {line!r} is not a release: write ## and three numbers, such as ## 0.2.0"
        for target in _files_linked_in(line):
            if not (folder / target).exists():
                yield f"{NAME}:{number}: {target} does not exist"
    found = sections(text)
    if not found:
        yield f"{NAME}: no section of a release, such as ## 0.2.0"
        return
    for section in found:
        yield from _problems_of_section(section)
    for newer, older in pairwise(found):
        if newer.release <= older.release:
            yield f"{NAME}:{older.line}: {text_of(older.release)} stands below {text_of(newer.release)}: newest first"
    released = {release for tag in tags if (release := release_of_tag(tag))}
    for release in sorted(released - {section.release for section in found}):
        yield f"{NAME}: the tag v{text_of(release)} has no section: add ## {text_of(release)}"


def problem_of_tag(text: str, tag: str) -> str | None:
    """The reason why a tag cannot be released with this changelog; None if it can."""
    release = release_of_tag(tag)
    if release is None:
        return f"{tag!r} is not a release tag: write v and three numbers, such as v0.2.0"
    found = sections(text)
    if not any(section.release == release for section in found):
        return f"{NAME} has no section ## {text_of(release)}, which the tag {tag} needs"
    return None


def notes(section: ReleaseSection, page: str = "") -> str:
    """A section as release notes.

    Headings go one level up. Each paragraph and each item becomes one line, because release pages show every line
    break. Links to files of the repository point below `page`, the address of its files at the tag, if given.
    """
    lines: list[str] = []
    in_code = False
    for line in "\n".join(section.lines).strip("\n").splitlines():
        fence = line.lstrip().startswith("```")
        follows = bool(lines) and lines[-1].strip() != "" and not lines[-1].lstrip().startswith(("#", "```"))
        if in_code or fence or not line.strip():
            lines.append(line)
        elif follows and not _BLOCK_START.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(re.sub(r"^#(#+ )", r"\1", line))
        in_code ^= fence
    if page:
        lines = [_LINK.sub(lambda link: link[1] + _absolute_address(link[2], page) + link[3], line) for line in lines]
    return "\n".join(lines) + "\n"


def _release_numbers(found: re.Match[str]) -> Release:
    return int(found[1]), int(found[2]), int(found[3])


def _problems_of_section(section: ReleaseSection) -> Iterator[str]:
    name = text_of(section.release)
    if not any(line.startswith("- ") for line in section.lines):
        yield f"{NAME}:{section.line}: {name} says nothing: add a line '- ...' for each change that a user sees"
    seen: set[str] = set()
    for number, heading in enumerate(section.lines, 1):
        if not heading.startswith("### "):
            continue
        if heading in seen:
            yield f"{NAME}:{section.line + number}: {heading!r} is there twice in {name}"
        seen.add(heading)
        below = next((line for line in section.lines[number:] if line.strip()), "#")
        if below.startswith("#"):
            yield f"{NAME}:{section.line + number}: nothing below {heading!r}"


def _files_linked_in(line: str) -> Iterator[str]:
    for link in _LINK.finditer(line):
        target = link[2].partition("#")[0]
        if target and not _ADDRESS.match(target):
            yield target


def _absolute_address(target: str, page: str) -> str:
    return target if _ADDRESS.match(target) else f"{page}/{target}"


def _list_tags(folder: Path) -> list[str]:
    """The tags of the repository with this root folder; empty without a repository or git."""
    if not (folder / ".git").exists():
        return []
    try:
        done = subprocess.run(["git", "-C", folder, "tag"], capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.split()


def _repository_address(tag: str) -> str:
    """The address of this repository's files at a tag, in a GitHub workflow."""
    server, repository = (os.environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY"))
    return f"{server}/{repository}/blob/{tag}" if server and repository else ""


def main() -> None:
    parser = argparse.ArgumentParser(description="Checks CHANGELOG.md, and prints the notes of a release.")
    parser.add_argument("tag", nargs="?", metavar="TAG", help="the release whose notes to print, as v0.2.0")
    parser.add_argument("--file", type=Path, default=ROOT / NAME, help="the changelog (default: the repository's)")
    options = parser.parse_args()
    try:
        text = options.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{options.file} cannot be read: {error}")
    found = list(problems(text, _list_tags(options.file.resolve().parent), options.file.parent))
    if options.tag is not None and (problem := problem_of_tag(text, options.tag)):
        found.append(problem)
    if found:
        sys.exit("\n".join(found))
    if options.tag is not None:
        (section,) = (each for each in sections(text) if each.release == release_of_tag(options.tag))
        sys.stdout.write(notes(section, _repository_address(options.tag)))


if __name__ == "__main__":
    main()
