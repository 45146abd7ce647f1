"""Write the shipped release maps, and their provenance beside them.

python scripts/make_release_maps.py XLA_CLONE JAX_CLONE [-o FILE]

The clones need the commits of `commits.json` in framedex/sources/releases, with their files; no working tree or network
is used. The file is byte-for-byte reproducible with one version of framedex's extractor and of zlib. All releases take
three minutes of processor time. To add a release, write commits.json (make_release_commits.py) and run this again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from framedex.model import SourceMapInfo
from framedex.sources import extract_files, find_language, find_macros
from framedex.sources.release_maps import (
    ReleasedFile,
    ReleaseMap,
    ReleaseSources,
    build_released_file,
    open_release_maps,
    write_release_maps,
)
from framedex.sources.release_maps.format import FORMAT_VERSION
from framedex.sources.release_maps.reader import SHIPPED

COMMITS = Path(__file__).parents[1] / "indexer" / "framedex" / "sources" / "releases" / "commits.json"

OLDEST_RELEASE = (0, 8)
"""The oldest JAX that pyproject.toml allows."""

SEED = "0.4.13"
"""The release of the first trace (`make seed-trace`)."""

EXCLUDED_FILES = re.compile(
    r"_(?:test|mock|fake|benchmark|fuzz)\w*\.\w+$|(?:^|/)(?:tests?|testing|mocks?|benchmarks?)/"
)
"""Files that are not part of a shipped library. Stubs are not excluded: they replace parts that are not built."""

_TOOL = f"release maps {FORMAT_VERSION}"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, and the folders of the component in it (empty: all)."""

    component: str
    key: str  # in commits.json
    address: str
    folders: tuple[str, ...] = ()


REPOSITORIES = (
    Repository("xla", "xla", "https://github.com/openxla/xla"),
    Repository("jaxlib", "jax", "https://github.com/jax-ml/jax", ("jaxlib/", "jax/jaxlib/")),
)

_Commits = Mapping[str, Mapping[str, str]]  # commits of each repository by release
_Tree = Mapping[str, str]  # the hash of the content of each file by its path


def main() -> None:
    """Write the maps and their provenance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("xla", type=Path, help="a clone of github.com/openxla/xla, or of a fork that has its commits")
    parser.add_argument("jax", type=Path, help="a clone of github.com/jax-ml/jax")
    parser.add_argument("--commits", type=Path, default=COMMITS, help="the file of make_release_commits.py")
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    commits = _supported_releases(json.loads(arguments.commits.read_text(encoding="utf-8"))["jaxlib"])
    clones = (arguments.xla, arguments.jax)
    trees = [
        [_list_files(clone, commit[repository.key], repository.folders) for commit in commits.values()]
        for clone, repository in zip(clones, REPOSITORIES, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for clone, of_repository in zip(clones, trees, strict=True):
            _write_contents(clone, of_repository, Path(folder))
        extracted = _extract_map_data(trees, Path(folder))
    sources = [
        _release_sources(repository, commits, of_repository, extracted)
        for repository, of_repository in zip(REPOSITORIES, trees, strict=True)
    ]
    arguments.output.write_bytes(write_release_maps(list(commits), sources))
    provenance = _make_provenance(arguments.output, commits, trees)
    arguments.output.with_suffix(".json").write_text(json.dumps(provenance, indent=1) + "\n", encoding="utf-8")


def _supported_releases(commits: _Commits) -> _Commits:
    """The jaxlib releases with maps, the oldest first."""
    return {
        each: commits[each]
        for each in commits
        if each == SEED or tuple(map(int, each.split(".")[:2])) >= OLDEST_RELEASE
    }


def _release_sources(
    repository: Repository, commits: _Commits, trees: Sequence[_Tree], extracted: Mapping[str, ReleasedFile]
) -> ReleaseSources:
    infos = [
        SourceMapInfo(repository.component, repository.address, commit[repository.key], False, _TOOL)
        for commit in commits.values()
    ]
    files = [{path: extracted[_content_path(path, content)] for path, content in tree.items()} for tree in trees]
    return ReleaseSources(infos, files)


def _list_files(clone: Path, commit: str, folders: Sequence[str]) -> _Tree:
    listed = subprocess.run(["git", "-C", clone, "ls-tree", "-r", "-z", commit], stdout=subprocess.PIPE, check=True)
    found = {}
    for entry in filter(None, listed.stdout.decode().split("\0")):
        about, path = entry.split("\t")
        mode, _, content = about.split()
        is_source = mode.startswith("100") and find_language(path) not in (None, "python")
        if is_source and path.startswith(tuple(folders) or "") and not EXCLUDED_FILES.search(path):
            found[path] = content
    return found


def _write_contents(clone: Path, trees: Sequence[_Tree], folder: Path) -> None:
    """Write each content once for every file name that has it, because initialisers are named after their file."""
    places: dict[str, set[str]] = {}
    for tree in trees:
        for path, content in tree.items():
            places.setdefault(content, set()).add(_content_path(path, content))
    missing: list[str] = []
    for content, data in _read_contents(clone, sorted(places)):
        if data is None:
            missing += places[content]
            continue
        for place in places[content]:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(data)
    if missing:
        names = ", ".join(sorted(missing)[:5])
        raise SystemExit(f"{clone} lacks the contents of {len(missing)} files, among them {names}: fetch them first.")


def _read_contents(clone: Path, contents: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """The bytes of each content; None if the clone lacks it."""
    command = ["git", "-C", str(clone), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        asking, answers = git.stdin, git.stdout
        assert asking is not None and answers is not None
        feeder = threading.Thread(
            target=lambda: (asking.write("".join(f"{each}\n" for each in contents).encode()), asking.close())
        )
        feeder.start()
        for content in contents:
            head = answers.readline().split()
            if head[-1:] == [b"missing"] or not head:
                yield content, None
            else:
                yield content, answers.read(int(head[2]))
                answers.read(1)
        feeder.join()


def _content_path(path: str, content: str) -> str:
    return f"{content[:2]}/{content}/{PurePosixPath(path).name}"


def _extract_map_data(trees: Sequence[Sequence[_Tree]], folder: Path) -> dict[str, ReleasedFile]:
    """The map data of each file, by its position.

    A file is parsed with the macros of the newest release that has it.
    """
    found: dict[str, ReleasedFile] = {}
    for of_release in reversed(list(zip(*trees, strict=True))):
        places = sorted({_content_path(path, content) for tree in of_release for path, content in tree.items()})
        macros = find_macros([str(folder / place) for place in places if find_language(place) == "cpp"])
        unread = [str(folder / place) for place in places if place not in found]
        for file in extract_files(unread, macros):
            found[os.path.relpath(file.path, folder)] = build_released_file(file, Path(file.path).read_bytes())
    return found


def _make_provenance(output: Path, commits: _Commits, trees: Sequence[Sequence[_Tree]]) -> dict[str, object]:
    data = output.read_bytes()
    maps = open_release_maps(output)
    return {
        "format": FORMAT_VERSION,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "components": {
            repository.component: {
                "repository": repository.address,
                "folders": list(repository.folders),
                "left out": EXCLUDED_FILES.pattern,
                "contents": len({content for tree in of for content in tree.values()}),
                "releases": {
                    release: {
                        "commit": commit[repository.key],
                        "files": len(tree),
                        "with definitions": _files_in(maps.nearest(repository.component, release)),
                    }
                    for (release, commit), tree in zip(commits.items(), of, strict=True)
                },
            }
            for repository, of in zip(REPOSITORIES, trees, strict=True)
        },
    }


def _files_in(release_map: ReleaseMap | None) -> int:
    return len(release_map.paths()) if release_map else 0


if __name__ == "__main__":
    main()
