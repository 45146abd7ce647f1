"""The addresses that framedex may pass to git."""

from __future__ import annotations

import pytest

from framedex.sources.fetching.addresses import find_address_problem, is_local, local_folder


@pytest.mark.parametrize(
    "address",
    [
        *("https://github.com/openxla/xla", "http://127.0.0.1:8080/xla.git", "https://[::1]:8080/xla"),
        *("ssh://git@git.example.org/xla.git", "git://git.example.org/xla", "file:///src/xla.git"),
        *("/src/xla", "../mirrors/xla.git", "./xla", "~/src/xla"),
    ],
)
def test_addresses_of_servers_and_folders_are_accepted(address: str) -> None:
    assert find_address_problem(address) is None


@pytest.mark.parametrize(
    "address",
    [
        *(
            "ext::sh -c touch% /tmp/x",
            "ext::sh",
            "fd::17",
            "https::https://example.org",
            "-u/bin/sh",
            "--upload-pack=x",
        ),
        *("", "xla", "git.example.org:xla.git", "host:xla", "ftp://example.org/xla", "file://host/xla", "file:xla"),
        *("ssh://-oProxyCommand=x/xla", "ssh://-x@host/xla", "https://", "https:///xla", "https:example.org/xla"),
        *("https://me:secret@example.org/xla", "https://example.org:port/xla", "https://example.org/x\ny", "/a b/c"),
        *("HTTPS://example.org/xla\x1b[2J", "javascript://example.org/x"),
    ],
)
def test_malformed_or_dangerous_addresses_are_refused_with_a_remedy(address: str) -> None:
    problem = find_address_problem(address)
    assert problem is not None and "https://HOST/PATH" in problem


def test_a_file_url_means_its_folder() -> None:
    assert is_local("file:///src/my%20xla") and local_folder("file:///src/my%20xla") == "/src/my xla"
    assert not is_local("https://example.org/file:///x")
