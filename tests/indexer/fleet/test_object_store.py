"""A store at an address of S3: moto's server, on a port of its own, which the tests start."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.errors import FramedexError
from framedex.fleet.adding import Added
from framedex.fleet.compacting import compact
from framedex.fleet.dropping import drop
from framedex.fleet.place import Place
from framedex.index import Index
from framedex.progress import Silence
from tests.indexer.fleet import servers
from tests.indexer.fleet.fleets import JOB, added, content, job

STORE = f"s3://{servers.BUCKET}/of/mine"


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """S3 on loopback, with a bucket."""
    for name, value in servers.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with servers.moto() as (host, port):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        yield


def test_a_store_of_objects_holds_what_one_in_a_folder_does(tmp_path: Path) -> None:
    """Given two that add the same at once."""
    added(tmp_path / "store", *job())  # by which all names are known
    with ThreadPoolExecutor() as pool:
        for done in pool.map(lambda captures: added(STORE, *captures), (job(), job()[::-1])):
            assert all(isinstance(each, Added) for each in done), done

    assert content(STORE) == content(tmp_path / "store")

    assert [isinstance(done, Added) and not done.is_new for done in added(STORE, *job())] == [True, True]


def test_objects_are_put_together_pulled_and_dropped(tmp_path: Path) -> None:
    added(STORE, *job())
    before = content(STORE)

    assert compact(Place(STORE), Silence()).parts == 1

    assert content(STORE) == before
    assert [isinstance(done, Added) and not done.is_new for done in added(STORE, *job())] == [True, True]
    index = tmp_path / "index.db"
    pulled = CliRunner().invoke(cli, ["fleet", "pull", "--store", STORE, "-o", str(index)])
    assert pulled.exit_code == 0, pulled.output
    with Index.open(index) as opened:
        assert sum(capture.calls for capture in opened.captures()) == len(before["calls"])
    assert drop(Place(STORE), None, JOB).files > 0
    assert not any(content(STORE)[table] for table in ("captures", "calls", "stacks"))


def test_a_bucket_that_is_not_there_is_told() -> None:
    with pytest.raises(FramedexError, match="s3://nobodys/store cannot be") as caught:
        added("s3://nobodys/store", job()[0])
    assert "key" not in str(caught.value)


def test_a_server_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with servers.moto() as (host, port):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    with pytest.raises(FramedexError, match="cannot be"):
        added(STORE, job()[0])
