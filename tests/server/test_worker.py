"""Indexing beside the server: by itself when a recording ends, when a source is saved, and on command."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from framedex.errors import FramedexError
from framedex.index import Index, Store
from framedex.ingest import Silence, find_needed_sources, ingest_captures
from framedex_server.jobs import Worker
from tests.server.asking import Connect, hover
from tests.server.recording import Recording
