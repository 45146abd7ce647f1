"""`framedex sources fetch --maps`: release maps published separately from framedex."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.model import SourceMapInfo
from framedex.sources import extract_files
from framedex.sources.release_maps import ReleaseSources, build_released_file, open_release_maps, write_release_maps
from framedex.sources.release_maps.reader import (
    SHIPPED,
    downloaded_maps_path,
    find_release_maps,
    remove_development_versions,
)
from tests.gitserver import served_as_files

SHIPPED_RELEASES = remove_development_versions(open_release_maps(SHIPPED).releases)
NEW = ("98.1.0", "99.1.0")


@dataclass(frozen=True)
class Publication:
    """A served folder, and the address of its index."""

    folder: Path
    address: str

    def write(self, releases: list[str], **index: object) -> bytes:
        """Publish maps of these releases, with an index that has these entries; return the maps."""
        source = self.folder / "client.cc"
        source.write_text("namespace xla { void Client::Run() { Execute(); } }\n")
        (extracted,) = extract_files([str(source)])
        file = {"xla/client.cc": build_released_file(extracted, source.read_bytes())}
        infos = [
            SourceMapInfo("xla", "https://github.com/openxla/xla", f"{number:040x}", False, "test")
            for number, _ in enumerate(releases)
        ]
        data = write_release_maps(releases, [ReleaseSources(infos, [file] * len(releases))])
        (self.folder / SHIPPED.name).write_bytes(data)
        content = {
            "format": 2,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "components": {"xla": {"releases": dict.fromkeys(releases)}},
        }
        (self.folder / "releases.json").write_text(json.dumps(content | index))
        return data


@pytest.fixture
def publication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publication]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "published"
    folder.mkdir()
    with served_as_files(folder) as server:
        yield Publication(folder, f"{server.address}/releases.json")


def fetch(publication: Publication) -> Result:
    return CliRunner().invoke(cli, ["sources", "fetch", "--maps", publication.address])


def test_newer_maps_replace_the_shipped_ones(publication: Publication) -> None:
    data = publication.write([*SHIPPED_RELEASES, *NEW])
    done = fetch(publication)
    assert done.exit_code == 0, done.stderr
    assert "Release maps of jaxlib 98.1.0, 99.1.0 were added." in done.stdout
    path = downloaded_maps_path()
    assert path is not None and path.read_bytes() == data and find_release_maps() == path
    for release in NEW:
        found = open_release_maps().nearest("xla", release)
        assert found is not None and (found.release, found.is_nearest) == (release, False)
    between = open_release_maps().nearest("xla", "98.2.0")
    assert between is not None and between.release in NEW and between.is_nearest
    assert "No release map is newer" in fetch(publication).stdout


def test_maps_without_a_new_release_are_not_downloaded(publication: Publication) -> None:
    publication.write(SHIPPED_RELEASES)
    (publication.folder / SHIPPED.name).unlink()
    done = fetch(publication)
    assert done.exit_code == 0 and "No release map is newer" in done.stdout
    assert find_release_maps() == SHIPPED


@pytest.mark.parametrize(
    ("index", "told"),
    [
        ({"sha256": "0" * 64}, "has another SHA-256"),
        ({"bytes": 1}, "has another SHA-256"),
        ({"format": 3}, "Upgrade framedex"),
        ({"components": []}, "not an index of release maps"),
    ],
)
def test_changed_or_foreign_maps_are_rejected(publication: Publication, index: dict[str, object], told: str) -> None:
    publication.write([*SHIPPED_RELEASES, *NEW], **index)
    done = fetch(publication)
    assert done.exit_code == 1 and told in done.stderr
    assert find_release_maps() == SHIPPED


def test_damaged_maps_with_the_right_checksum_are_rejected(publication: Publication) -> None:
    data = publication.write([*SHIPPED_RELEASES, *NEW])[:-9]
    (publication.folder / SHIPPED.name).write_bytes(data)
    index = json.loads((publication.folder / "releases.json").read_text())
    index |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (publication.folder / "releases.json").write_text(json.dumps(index))
    done = fetch(publication)
    assert done.exit_code == 1 and "are damaged" in done.stderr
    path = downloaded_maps_path()
    assert path is not None and not list(path.parent.iterdir())


def test_older_downloaded_maps_do_not_hide_the_shipped_ones(publication: Publication) -> None:
    path = downloaded_maps_path()
    assert path is not None
    path.parent.mkdir(parents=True)
    for content in (publication.write(["0.8.0", *NEW]), b"\x8bFDMAPS\n" + bytes(12)):
        path.write_bytes(content)
        assert find_release_maps() == SHIPPED


def test_an_address_without_maps_is_an_error_with_a_remedy(publication: Publication) -> None:
    missing = fetch(publication)
    assert missing.exit_code == 1 and "it answered 404" in missing.stderr
    refused = CliRunner().invoke(cli, ["sources", "fetch", "--maps", "file:///etc/passwd"])
    assert refused.exit_code == 1 and "is not a web address" in refused.stderr
