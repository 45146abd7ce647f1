"""Compilation in a child process: from an encoded request to an encoded program description (child.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxlib import _jax, lapack, xla_client
from jaxlib.mlir import ir

from . import encoding
from .client import Client
from .rewriting import custom_call_targets

_TYPED_FFI = 1  # xla_client's API version number of typed handlers
_HOST = xla_client.xla_platform_names["cpu"]


def compile_request(request: bytes) -> bytes:
    """Compile the requested program, and return the error's text, empty for success, and the program's description."""
    decoder = encoding.Decoder(request)
    devices = decoder.sequence(lambda: (decoder.integer(), decoder.integer()))
    types = decoder.sequence(lambda: decoder.text().decode())
    code_format, code, options = decoder.text().decode(), decoder.text(), decoder.text()
    try:
        client = _PermissiveClient([number for number, _ in devices], [process for _, process in devices], 0, types)
        program = client.compile(code, code_format, options, key=0)
    except Exception as error:
        return encoding.text(str(error) or repr(error)) + encoding.text("")
    return encoding.text("") + encoding.text(program.description)


class _PermissiveClient(Client):
    """A client that accepts calls of any FFI handler, because the parent's handlers are not registered here."""

    def load(self, module: Any, device_ids: Sequence[int], options: Any) -> Any:
        """Compile as Client.load does. The program never runs."""
        if isinstance(module, ir.Module):
            _register_stand_ins(custom_call_targets(module))
        return super().load(module, device_ids, options)


def _register_stand_ins(targets: set[str]) -> None:
    """Register stand-ins for these targets with XLA. They are never called, because the program never runs."""
    handler = next(value for _, value, api in lapack.registrations()["cpu"] if api == _TYPED_FFI)
    for target in targets - set(xla_client.custom_call_targets(_HOST)):
        _jax.register_custom_call_target(target, handler, _HOST, _TYPED_FFI, 0)
