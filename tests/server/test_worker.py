"""Indexing beside the server: by itself when a recording ends, when a source is saved, and on command."""

from __future__ import annotations
