"""A store on S3: moto's server on its own port, started by the tests."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.commands.main import cli
from framedex.fleet.adding import AddedCapture
from framedex.fleet.compacting import compact
from framedex.fleet.dropping import drop
from framedex.fleet.store_root import StoreRoot
from framedex.index import Index
from tests.indexer.fleet import servers
from tests.indexer.fleet.fleets import JOB, add_to_store, content, job, run_query

STORE = f"s3://{servers.BUCKET}/of/mine"


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """S3 on loopback, with a bucket."""
    for name, value in servers.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with servers.moto() as (host, port):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        yield


def test_an_object_store_equals_a_folder_store(tmp_path: Path) -> None:
    """Two processes add the same captures concurrently; then the objects are compacted, pulled and dropped."""
    folder = tmp_path / "store"
    add_to_store(folder, *job())  # a cache of all names
    with ThreadPoolExecutor() as pool:
        for done in pool.map(lambda captures: add_to_store(STORE, *captures), (job(), job()[::-1])):
            assert all(isinstance(each, AddedCapture) for each in done), done

    assert compact(StoreRoot(STORE), SilentProgress()).parts == 1

    assert content(STORE) == content(folder)
    assert [isinstance(done, AddedCapture) and not done.is_new for done in add_to_store(STORE, *job())] == [True, True]
    index = tmp_path / "index.db"
    pulled = CliRunner().invoke(cli, ["fleet", "pull", "--store", STORE, "-o", str(index), "--rank", "0"])
    assert pulled.exit_code == 0, pulled.output
    with Index.open(index) as opened:
        ((calls,),) = run_query(folder, "SELECT calls FROM captures WHERE rank = 0")
        assert sum(capture.calls for capture in opened.captures()) == calls
    assert drop(StoreRoot(STORE), None, JOB).files > 0
    assert run_query(STORE, "SELECT * FROM captures") == []


def test_a_missing_bucket_is_reported() -> None:
    with pytest.raises(FramedexError, match="s3://nobodys/store cannot be") as caught:
        add_to_store("s3://nobodys/store", job()[0])
    assert "key" not in str(caught.value)


@pytest.mark.exhaustive
def test_an_unreachable_server_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with servers.moto() as (host, port):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    with pytest.raises(FramedexError, match="cannot be"):
        add_to_store(STORE, job()[0])
