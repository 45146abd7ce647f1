"""Gets the sources of libraries: Debian's source packages and Python's source archives.

Debian's come by an apt of our own settings, lists and caches, so nobody has to be root and the system stays as it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from lines.corpus import Library

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def fetch(library: Library, cache: Path) -> Path:
    """The folder of the library's sources below the cache; fetched unless it is there."""
    root = cache / library.name / "source"
    if root.is_dir():
        return root
    kind, _, what = library.source.partition(":")
    partial = cache / library.name / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    print(f"fetching {library.source}", flush=True)
    unpacked = _from_debian(what, cache, partial) if kind == "deb" else _from_python_index(what, partial)
    for name, text in library.generate.items():
        (unpacked / name).parent.mkdir(parents=True, exist_ok=True)
        (unpacked / name).write_text(text)
    for name in library.remove:
        shutil.rmtree(unpacked / name)
    unpacked.rename(root)
    shutil.rmtree(partial)
    return root


def _from_debian(what: str, cache: Path, folder: Path) -> Path:
    settings = _apt_settings(cache / "apt")
    package, _, version = what.partition("=")
    command = ["apt-get", "-c", str(settings), "source", "--download-only", "-qq"]
    if subprocess.run([*command, f"{package}={version}"], cwd=folder, check=False).returncode:
        print(f"  {what} is not there: taking the version that is", flush=True)
        subprocess.run([*command, package], cwd=folder, check=True)
    (described,) = folder.glob("*.dsc")
    print(f"  {described.name}", flush=True)
    unpack = ["dpkg-source", "--no-check", "-x", described.name, "unpacked"]
    subprocess.run(unpack, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "unpacked"


def _apt_settings(folder: Path) -> Path:
    """The settings of an apt of our own, which knows the source packages of what the system's apt knows."""
    settings = folder / "apt.conf"
    if settings.exists():
        return settings
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    ask = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    known = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split("\n")
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    sources = folder / "sources.list"
    sources.write_text("".join(f"deb-src {signed}{line}\n" for line in dict.fromkeys(filter(None, known))))
    partial = folder / "apt.conf.partial"
    partial.write_text(
        f'Dir::Etc::sourcelist "{sources}";\nDir::Etc::sourceparts "-";\nDir::State::lists "{folder}/lists";\n'
        f'Dir::Cache "{folder}/cache";\nAPT::Sandbox::User "";\n'
    )
    subprocess.run(["apt-get", "-c", str(partial), "update", "-qq"], check=True)
    return partial.rename(settings)


def _from_python_index(what: str, folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", what]
    subprocess.run(pip, cwd=folder, check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    archive.unlink()
    (unpacked,) = folder.iterdir()
    return unpacked
