"""Builds a library to a shared one with debug information, and a copy without, by the compiler itself."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lines.corpus import COMPILERS, HERE, Library, Options
from lines.fetching import fetch

_ENTRY = HERE / "drivers" / "entry.c"
_C = ["-xc", "-std=gnu11"]


@dataclass(frozen=True, slots=True)
class Build:
    """A built library: its sources, the library with debug information, and what a user would have of it."""

    library: Library
    options: Options
    sources: Path
    described: Path
    stripped: Path

    @property
    def folder(self) -> Path:
        """Where what is known of it is kept."""
        return self.described.parent


def build(library: Library, options: Options, libraries: dict[str, Library], cache: Path, processes: int) -> Build:
    """Fetch and build what is not there yet.

    Raises RuntimeError with the compiler's words where a file does not compile, subprocess.CalledProcessError where
    the library does not link, OSError where nothing can be fetched or written.
    """
    root = fetch(library, cache)
    folder = cache / library.name / options.name
    built = Build(
        library, options, root, folder / f"lib{library.name}.so", folder / "stripped" / f"lib{library.name}.so"
    )
    if built.stripped.exists():
        return built
    folder.mkdir(parents=True, exist_ok=True)
    roots = {name: fetch(libraries[name], cache) for name in library.needs}
    include = [f"-I{_folder(entry, root, roots)}" for entry in library.include]
    files = library.files_to_compile(root)
    borrowed = [roots[name] / file for name, names in library.borrow.items() for file in names]
    compiler = compiler_for(options)
    print(f"building {library.name} {options.name}: {len(files) + len(borrowed)} files", flush=True)

    def compiled(file: Path) -> Path:
        flags = [*library.flags, *include]
        if library.renames_main(file, root):
            flags.append(f"-Dmain=main_of_{file.stem.replace('-', '_').replace('.', '_')}")
        if file.suffix == ".c":
            flags = [*_C, *(flag for flag in flags if not flag.startswith("-std="))]
        return _object(compiler, file, [*options.flags, *flags], folder / "objects")

    with ThreadPoolExecutor(processes) as pool:
        objects = list(pool.map(compiled, [*files, *borrowed, *([] if library.python else [_ENTRY])]))
    partial = folder / "partial.so"
    whole = [] if library.python else ["-Wl,-z,defs"]  # what is missing shows here, not when a workload is run
    link = [compiler, "-shared", *whole, *options.flags, "-o", str(partial), *map(str, objects), *library.link]
    subprocess.run([*link, "-lpthread", "-ldl"], check=True)
    built.stripped.parent.mkdir(exist_ok=True)
    partial.rename(built.described)
    stripping = folder / "partial.stripped"
    subprocess.run(["strip", "-g", "-o", str(stripping), str(built.described)], check=True)
    stripping.rename(built.stripped)
    shutil.rmtree(folder / "objects")
    return built


def compiler_for(options: Options) -> str:
    """The command of the compiler. Raises RuntimeError if none is installed."""
    for command in COMPILERS[options.compiler]:
        if shutil.which(command):
            return command
    raise RuntimeError(f"no {options.compiler} is installed: `apt install {' or '.join(COMPILERS[options.compiler])}`")


def _folder(entry: str, root: Path, roots: dict[str, Path]) -> str:
    name, colon, below = entry.partition(":")
    if name == "python" and colon:
        return sysconfig.get_paths()["include"]
    return str(roots[name] / below if colon else root / entry)


def _object(compiler: str, file: Path, flags: Sequence[str], folder: Path) -> Path:
    key = hashlib.sha256("\0".join([str(file), *flags]).encode()).hexdigest()[:16]
    made = folder / f"{key}.o"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = made.with_suffix(".partial.o")
        command = [compiler, "-g", "-fPIC", "-w", *flags, "-c", str(file), "-o", str(partial)]
        done = subprocess.run(["nice", *command], capture_output=True, text=True, check=False, env=_SANE)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr[-4000:]}")
        partial.rename(made)
    return made


_SANE = {**os.environ, "LC_ALL": "C"}
