"""The libraries of the benchmark: their entries in libraries.toml, fetching their sources, and building them.

Debian's source packages come through an apt with our own settings, lists and caches, so that root is not needed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

HERE = Path(__file__).parent

# --- the table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Library:
    """One library of the table; `libraries.toml` describes each field."""

    name: str
    source: str
    style: str
    compile: Sequence[str] = ()
    exclude: Sequence[str] = ()
    rename_main: Sequence[str] = ()
    include: Sequence[str] = ()
    flags: Sequence[str] = ()
    link: Sequence[str] = ()
    borrow: Mapping[str, Sequence[str]] = field(default_factory=dict)
    generate: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    files: Sequence[str] = ()
    remove: Sequence[str] = ()
    tests: Sequence[str] = ("test/*", "tests/*", "*/test/*", "*/tests/*", "*/testing/*", "*test.*")
    python: str = ""
    held_out: bool = False

    @property
    def needs(self) -> list[str]:
        """The names of libraries whose files or headers this library needs."""
        folders = [entry.partition(":")[0] for entry in self.include if ":" in entry]
        return [name for name in dict.fromkeys([*self.borrow, *folders]) if name != "python"]

    def files_to_compile(self, root: Path) -> list[Path]:
        """The files to compile below the library's folder, and our own drivers."""
        found: dict[Path, None] = {}
        for pattern in self.compile:
            if pattern.startswith("own:"):
                found[HERE / "drivers" / pattern.removeprefix("own:")] = None
                continue
            matching = sorted(root.glob(pattern))
            if not matching:
                raise FileNotFoundError(f"{self.name}: nothing matches {pattern!r} below {root}")
            found.update(dict.fromkeys(path for path in matching if not self._is_excluded(path.relative_to(root))))
        return list(found)

    def is_test(self, path: str) -> bool:
        """Whether a file is a test, by its path below the library's folder."""
        return any(fnmatch(path, pattern) for pattern in self.tests)

    def renames_main(self, file: Path, root: Path) -> bool:
        """Whether the file has its own `main` and the workload runs another."""
        return file.is_relative_to(root) and any(fnmatch(str(file.relative_to(root)), p) for p in self.rename_main)

    def _is_excluded(self, path: Path) -> bool:
        return any(fnmatch(str(path), pattern) for pattern in self.exclude)


@dataclass(frozen=True, slots=True)
class Options:
    """A compiler with the options of one build."""

    compiler: str
    level: str
    flags: Sequence[str]

    @property
    def name(self) -> str:
        """The name in tables, and the name of the folder."""
        return f"{self.compiler}-{self.level}"


COMPILERS = {"clang": ("clang++-19", "clang++"), "gcc": ("g++-12", "g++")}
"""The commands to try for each compiler; published figures use the first one."""
_LEVELS = {"O2": ["-O2"], "O3-hidden": ["-O3", "-fvisibility=hidden"]}
BUILDS = [Options(compiler, level, flags) for level, flags in _LEVELS.items() for compiler in COMPILERS]
"""Every library is built with each of these."""


def read_libraries(table: Path = HERE / "libraries.toml") -> dict[str, Library]:
    """The libraries by name, in the order of the table."""
    return {name: Library(name, **entry) for name, entry in tomllib.loads(table.read_text()).items()}


# --- fetching ---------------------------------------------------------------------------------------------------------

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def fetch(library: Library, cache: Path) -> Path:
    """Fetch the sources of a library if they are missing; return their folder."""
    root = cache / library.name / "source"
    if root.is_dir():
        return root
    kind, _, package_version = library.source.partition(":")
    partial = cache / library.name / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    print(f"fetching {library.source}", flush=True)
    unpacked = (
        _fetch_from_debian(package_version, cache, partial)
        if kind == "deb"
        else _fetch_from_python_index(package_version, partial)
    )
    for name, text in library.generate.items():
        (unpacked / name).parent.mkdir(parents=True, exist_ok=True)
        (unpacked / name).write_text(text)
    for name in library.remove:
        shutil.rmtree(unpacked / name)
    unpacked.rename(root)
    shutil.rmtree(partial)
    return root


def _fetch_from_debian(package_version: str, cache: Path, folder: Path) -> Path:
    settings = _apt_settings(cache / "apt")
    package, _, version = package_version.partition("=")
    command = ["apt-get", "-c", str(settings), "source", "--download-only", "-qq"]
    if subprocess.run([*command, f"{package}={version}"], cwd=folder, check=False).returncode:
        print(f"  {package_version} is not there: taking the version that is", flush=True)
        subprocess.run([*command, package], cwd=folder, check=True)
    (described,) = folder.glob("*.dsc")
    print(f"  {described.name}", flush=True)
    unpack = ["dpkg-source", "--no-check", "-x", described.name, "unpacked"]
    subprocess.run(unpack, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "unpacked"


def _apt_settings(folder: Path) -> Path:
    """Write the settings of a private apt, with the source packages of the system's apt."""
    settings = folder / "apt.conf"
    if settings.exists():
        return settings
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    list_targets = [
        "apt-get",
        "indextargets",
        "--format",
        "$(REPO_URI) $(RELEASE) $(COMPONENT)",
        "Created-By: Packages",
    ]
    targets = subprocess.run(list_targets, capture_output=True, text=True, check=True).stdout.split("\n")
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    sources = folder / "sources.list"
    sources.write_text("".join(f"deb-src {signed}{line}\n" for line in dict.fromkeys(filter(None, targets))))
    partial = folder / "apt.conf.partial"
    partial.write_text(
        f'Dir::Etc::sourcelist "{sources}";\nDir::Etc::sourceparts "-";\nDir::State::lists "{folder}/lists";\n'
        f'Dir::Cache "{folder}/cache";\nAPT::Sandbox::User "";\n'
    )
    subprocess.run(["apt-get", "-c", str(partial), "update", "-qq"], check=True)
    return partial.rename(settings)


def _fetch_from_python_index(package_version: str, folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", package_version]
    subprocess.run(pip, cwd=folder, check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    archive.unlink()
    (unpacked,) = folder.iterdir()
    return unpacked


# --- building ---------------------------------------------------------------------------------------------------------

_ENTRY = HERE / "drivers" / "entry.c"
_C = ["-xc", "-std=gnu11"]
_COMPILER_ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class Build:
    """A built library: its sources, the library with debug information, and the stripped library of a user."""

    library: Library
    options: Options
    sources: Path
    described: Path
    stripped: Path

    @property
    def folder(self) -> Path:
        """The folder with everything known about the build."""
        return self.described.parent


def build(library: Library, options: Options, libraries: dict[str, Library], cache: Path, processes: int) -> Build:
    """Fetch and build a library if necessary.

    Raises RuntimeError with the compiler's message if a file does not compile. Raises subprocess.CalledProcessError if
    the library does not link, and OSError if a fetch or a write fails.
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
    compiler = find_compiler(options)
    print(f"building {library.name} {options.name}: {len(files) + len(borrowed)} files", flush=True)

    def compile_file(file: Path) -> Path:
        flags = [*library.flags, *include]
        if library.renames_main(file, root):
            flags.append(f"-Dmain=main_of_{file.stem.replace('-', '_').replace('.', '_')}")
        if file.suffix == ".c":
            flags = [*_C, *(flag for flag in flags if not flag.startswith("-std="))]
        return _compile_object(compiler, file, [*options.flags, *flags], folder / "objects")

    with ThreadPoolExecutor(processes) as pool:
        objects = list(pool.map(compile_file, [*files, *borrowed, *([] if library.python else [_ENTRY])]))
    partial = folder / "partial.so"
    complete = [] if library.python else ["-Wl,-z,defs"]  # missing symbols are reported here, not when a workload runs
    link = [compiler, "-shared", *complete, *options.flags, "-o", str(partial), *map(str, objects), *library.link]
    subprocess.run([*link, "-lpthread", "-ldl"], check=True)
    built.stripped.parent.mkdir(exist_ok=True)
    partial.rename(built.described)
    stripping = folder / "partial.stripped"
    subprocess.run(["strip", "-g", "-o", str(stripping), str(built.described)], check=True)
    stripping.rename(built.stripped)
    shutil.rmtree(folder / "objects")
    return built


def find_compiler(options: Options) -> str:
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


def _compile_object(compiler: str, file: Path, flags: Sequence[str], folder: Path) -> Path:
    key = hashlib.sha256("\0".join([str(file), *flags]).encode()).hexdigest()[:16]
    object_file = folder / f"{key}.o"
    if not object_file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = object_file.with_suffix(".partial.o")
        command = [compiler, "-g", "-fPIC", "-w", *flags, "-c", str(file), "-o", str(partial)]
        done = subprocess.run(
            ["nice", *command], capture_output=True, text=True, check=False, env=_COMPILER_ENVIRONMENT
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr[-4000:]}")
        partial.rename(object_file)
    return object_file
