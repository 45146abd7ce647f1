"""Pin the packages for building wheels and for `make arm64`: write `packages.json` from the distributions' indexes.

python -m scripts.wheels.pins

Run it when a package has disappeared from its archive, or to follow a Python's newest headers. The sysroot is Ubuntu
18.04, which no longer changes: glibc 2.27 is the oldest version on which jaxlib's own wheels run. Later downloads are
compared with these hashes.
"""

from __future__ import annotations

import json
import lzma
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

PINS = Path(__file__).with_name("packages.json")
_UBUNTU, _DEBIAN = "http://archive.ubuntu.com/ubuntu", "http://deb.debian.org/debian"


class _DistributionSuite(NamedTuple):
    archive: str
    name: str
    component: str
    packages: tuple[str, ...]
    architecture: str = "amd64"


_SYSROOT = (
    _DistributionSuite(
        _UBUNTU, "bionic-updates", "main", ("libc6", "libc6-dev", "linux-libc-dev", "libgcc1", "libstdc++6")
    ),
    _DistributionSuite(_UBUNTU, "bionic-updates", "universe", ("libstdc++-8-dev",)),
)
_HEADERS = {
    "3.11": _DistributionSuite(_DEBIAN, "bookworm", "main", ("libpython3.11-dev",)),
    "3.12": _DistributionSuite(_UBUNTU, "noble", "main", ("libpython3.12-dev",)),
    "3.13": _DistributionSuite(_DEBIAN, "trixie", "main", ("libpython3.13-dev",)),
    "3.14": _DistributionSuite(_UBUNTU, "resolute", "main", ("libpython3.14-dev",)),
}
# Debian 12's CPython, because the cross compiler is Debian 12's, with the libraries that it and JAX load.
_ARM64 = _DistributionSuite(
    _DEBIAN,
    "bookworm",
    "main",
    (
        *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libpython3.11-dev"),
        *("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libexpat1", "libssl3", "libffi8", "libbz2-1.0", "liblzma5"),
        *("libsqlite3-0", "libuuid1"),
    ),
    "arm64",
)


def main() -> None:
    """Read every index, then write the pins."""
    sysroot = [entry for suite in _SYSROOT for entry in _read_package_entries(suite)]
    headers = {version: entry for version, suite in _HEADERS.items() for entry in _read_package_entries(suite)}
    pins = {"sysroot": sysroot, "headers": headers, "arm64": [*_read_package_entries(_ARM64)]}
    PINS.write_text(json.dumps(pins, indent=1) + "\n", encoding="utf-8")


def _read_package_entries(suite: _DistributionSuite) -> Iterator[dict[str, str]]:
    address = f"{suite.archive}/dists/{suite.name}/{suite.component}/binary-{suite.architecture}/Packages.xz"
    try:
        with urllib.request.urlopen(address) as answer:
            stanzas = lzma.decompress(answer.read()).decode().split("\n\n")
    except URLError as error:
        sys.exit(f"pins: {address} cannot be read: {error}. Nothing was written.")
    index = {fields["Package"]: fields for stanza in stanzas if (fields := _parse_fields(stanza))}
    for package in suite.packages:
        if package not in index:
            sys.exit(f"pins: {suite.name} has no {package}. Nothing was written.")
        found = index[package]
        yield {
            "package": package,
            "version": found["Version"],
            "url": f"{suite.archive}/{found['Filename']}",
            "sha256": found["SHA256"],
        }


def _parse_fields(stanza: str) -> dict[str, str]:
    lines = (line for line in stanza.split("\n") if ": " in line and not line.startswith(" "))
    return {name: value for name, _, value in (line.partition(": ") for line in lines)}


if __name__ == "__main__":
    main()
