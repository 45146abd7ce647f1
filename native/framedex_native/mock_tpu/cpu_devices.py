"""The CPU client, and the assignment of its devices to those of the mock TPU."""

from __future__ import annotations

import atexit
import os
import socket
from collections.abc import Sequence
from typing import Any

import jax
from jax._src import distributed
from jaxlib import _jax, utils, xla_client

_ADDRESS_KEY = "framedex/mock_tpu/coordinator"
_TIMEOUT_MS = 60_000
_ERROR = 2  # absl's log level above warnings


def open_cpu_client(processes: Sequence[int], own_process: int) -> tuple[Any, list[Any], bool]:
    """Open a CPU client for devices that belong to these processes.

    Returns the client, its devices in the order of `processes`, and whether it runs programs across processes. It does
    so if jax.distributed.initialize() connected exactly these processes. Otherwise this process has all devices.
    """
    state = distributed.global_state
    is_connected = state.client is not None and state.num_processes == len(set(processes)) > 1
    is_distributed = is_connected and own_process in processes
    if not is_distributed:
        client: Any = xla_client.make_cpu_client(asynchronous=True, num_devices=len(processes))
        return client, sorted(client.devices(), key=lambda device: device.id), False
    _silence_warnings_after_shutdown(state)
    connection = _connect(state)
    client = xla_client.make_cpu_client(
        asynchronous=True,
        distributed_client=connection,
        node_id=own_process,
        num_nodes=state.num_processes,
        collectives=_jax.make_gloo_tcp_collectives(distributed_client=connection),
        num_devices=list(processes).count(own_process),
    )
    of_process: dict[int, list[Any]] = {}
    for device in sorted(client.devices(), key=lambda device: device.id):
        of_process.setdefault(device.process_index, []).append(device)
    return client, [of_process[process].pop(0) for process in processes], True


def _connect(state: Any) -> Any:
    """Connect the processes separately, because JAX's CPU backend already uses JAX's own connection.

    The first process runs the service, and publishes its address through JAX's connection.
    """
    if state.process_id == 0:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::", 0))
            port = probe.getsockname()[1]
        service = _jax.get_distributed_runtime_service(f"[::]:{port}", state.num_processes)
        atexit.register(service.shutdown)
        host = state.coordinator_address.rsplit(":", 1)[0]
        state.client.key_value_set(_ADDRESS_KEY, f"{host}:{port}")
    address = state.client.blocking_key_value_get(_ADDRESS_KEY, _TIMEOUT_MS)
    connection = _jax.get_distributed_runtime_client(address, state.process_id)
    connection.connect()
    atexit.register(connection.shutdown)
    return connection


def _silence_warnings_after_shutdown(state: Any) -> None:
    """Make `jax.distributed.shutdown()` silence the warnings of jaxlib, unless the user has chosen a log level.

    jaxlib's plug-in client watches the other processes until its destruction. JAX closes the connection earlier, so the
    watch fails and warns once a second. JAX's CPU client does not watch.
    """
    shut_down = state.shutdown

    def shut_down_silently() -> None:
        is_default = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1") == "1"  # JAX's own default is 1
        if is_default and jax.config.jax_logging_level in (None, "NOTSET"):
            utils.absl_set_min_log_level(_ERROR)
        shut_down()

    state.shutdown = shut_down_silently
