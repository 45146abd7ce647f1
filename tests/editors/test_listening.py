"""A real Emacs with eglot connected to a listening server, as docs/reference/language-server.md describes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.editors.test_emacs import has_eglot

pytestmark = pytest.mark.skipif(
    not has_eglot(), reason="needs Emacs with eglot (Debian: apt-get install emacs-nox elpa-eglot)"
)

CONNECT = """
(progn (package-initialize) (require 'eglot) (require 'python)
  (find-file "demo.py")
  (setq eglot-server-programs (list {contact}))
  (condition-case problem
      (let ((server (apply #'eglot--connect (eglot--guess-contact))))
        (princ (format "answered %S" (jsonrpc-request server :framedex/indexes nil)))
        (eglot-shutdown server))
    (error (princ (format "failed %S" problem)))))
"""
SOCKET = """`(python-mode eglot-lsp-server
              :process ,(lambda (&rest _)
                          (make-network-process :name "framedex" :family 'local :service "{where}")))"""
PORT = """`(python-mode eglot-lsp-server
              :process ,(lambda (&rest _) (open-network-stream "framedex" nil "127.0.0.1" {where}))
              :initializationOptions (:token "{token}"))"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own runtime folder."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / "demo.py").write_text("x = 1\n")
    return tmp_path


def said_by_emacs(home: Path, contact: str) -> str:
    command = ["emacs", "--batch", "--eval", CONNECT.format(contact=contact)]
    return subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.exhaustive
def test_the_server_listens_on_a_socket(home: Path) -> None:
    path = home / "f.sock"
    serving = [sys.executable, "-m", "framedex_server", "--socket", str(path)]
    with subprocess.Popen(serving, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None and server.stderr.readline()
        assert "answered (:indexes [])" in said_by_emacs(home, SOCKET.format(where=path))
        server.kill()


def test_the_server_listens_on_a_port_with_a_token_file(home: Path) -> None:
    serving = [sys.executable, "-m", "framedex_server", "--tcp", "0"]
    with subprocess.Popen(serving, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        port = int(server.stderr.readline().rpartition(b":")[2])
        assert server.stderr.readline()
        token = (home / "framedex" / f"serve-{port}.token").read_text().strip()
        assert "answered (:indexes [])" in said_by_emacs(home, PORT.format(where=port, token=token))
        assert "initializationOptions.token" in said_by_emacs(home, PORT.format(where=port, token="wrong"))
        server.kill()
