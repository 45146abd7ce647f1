"""Third-party code compiled into our libraries: each with its licence and its entry in the wheel's SBOM."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from scripts.wheels.packages import Package, Pins

_GCC_TEXT = Path("/usr/share/doc/gcc-12-base/copyright")  # the GPL, and the exception for compiled programs


@dataclass(frozen=True)
class LinkedComponent:
    """A component: its licence as an SPDX expression, its purl, and the licence texts by file name."""

    name: str
    version: str
    licence: str
    purl: str
    sha256: str | None
    texts: Mapping[str, bytes]


def linked_components(pins: Pins, python: str, tree_sitter: Path, fetched_by: Path) -> Sequence[LinkedComponent]:
    """The components of the wheel for a version of CPython.

    `tree_sitter` is the folder of its unpacked source distribution, `fetched_by` the file that pins it.
    """
    by_name = {package.package: package for package in pins.sysroot}
    pinned = dict(re.findall(r"set\(TREE_SITTER_(\w+) (\S+)\)", fetched_by.read_text(encoding="utf-8")))
    core = {
        "LICENSE.tree-sitter": (tree_sitter / "LICENSE").read_bytes(),
        "LICENSE.tree-sitter-unicode": (tree_sitter / "tree_sitter/core/lib/src/unicode/LICENSE").read_bytes(),
    }
    pybind11 = metadata.distribution("pybind11")
    text = next(file for file in pybind11.files or () if file.name == "LICENSE")
    with_exception = "GPL-3.0-or-later WITH GCC-exception-3.1"
    version = pinned["VERSION"]
    return (
        LinkedComponent(
            "tree-sitter", version, "MIT AND Unicode-3.0", f"pkg:pypi/tree-sitter@{version}", pinned["SHA256"], core
        ),
        LinkedComponent(
            "pybind11",
            pybind11.version,
            "BSD-3-Clause",
            f"pkg:pypi/pybind11@{pybind11.version}",
            None,
            {"LICENSE.pybind11": Path(str(text.locate())).read_bytes()},
        ),
        _debian_component(by_name["libstdc++-8-dev"], with_exception, {"LICENSE.gcc": _GCC_TEXT.read_bytes()}),
        _libgcc_component(with_exception),
        _debian_component(by_name["libc6-dev"], "LGPL-2.1-or-later", {}),
        _debian_component(pins.headers[python], "PSF-2.0", {}),
    )


def bill_of_materials(name: str, version: str, epoch: int, components: Iterable[LinkedComponent]) -> bytes:
    """The SBOM of a wheel, as CycloneDX 1.6; `epoch` is its time, in seconds since 1970."""
    own = {"type": "application", "name": name, "version": version, "purl": f"pkg:pypi/{name}@{version}"}
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**own, "bom-ref": own["purl"], "licenses": [{"expression": "Apache-2.0"}]},
        },
        "components": [_sbom_entry(component) for component in components],
    }
    return (json.dumps(bill, indent=1) + "\n").encode()


def _sbom_entry(component: LinkedComponent) -> dict[str, object]:
    entry: dict[str, object] = {
        "type": "library",
        "bom-ref": component.purl,
        "name": component.name,
        "version": component.version,
        "licenses": [{"expression": component.licence}],
        "purl": component.purl,
    }
    return entry | ({"hashes": [{"alg": "SHA-256", "content": component.sha256}]} if component.sha256 else {})


def _debian_component(package: Package, licence: str, texts: Mapping[str, bytes]) -> LinkedComponent:
    distribution = "ubuntu" if "ubuntu" in package.url else "debian"
    purl = f"pkg:deb/{distribution}/{package.package}@{package.version}?arch=amd64"
    return LinkedComponent(package.package, package.version, licence, purl, package.sha256, texts)


def _libgcc_component(licence: str) -> LinkedComponent:
    """The compiler's own library on this machine. Parts of it are linked into our libraries."""
    asked = ["dpkg-query", "--show", "--showformat=${Version}", "libgcc-12-dev"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    library = subprocess.run(
        ["gcc", "-print-libgcc-file-name"], check=True, capture_output=True, text=True
    ).stdout.strip()
    purl = f"pkg:deb/debian/libgcc-12-dev@{version}?arch=amd64"
    return LinkedComponent(
        "libgcc-12-dev", version, licence, purl, hashlib.sha256(Path(library).read_bytes()).hexdigest(), {}
    )
