"""Protocol buffer messages described in Python, for the protobuf library."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

INTEGER, UNSIGNED, BOOLEAN, TEXT, MESSAGE = 3, 4, 8, 9, 11
ONE, MANY = 1, 3

Field = tuple[str, int, int, str, int]
"""A field: its name, number, type, message type, and whether it is repeated."""


def message_class(messages: dict[str, list[Field]], name: str) -> Any:
    """The class of a message."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package="of_tests", syntax="proto3")
    for each, fields in messages.items():
        message = file.message_type.add(name=each)
        for field, number, kind, of, label in fields:
            type_name = f".of_tests.{of}" if of else None
            message.field.add(name=field, number=number, type=kind, type_name=type_name, label=label)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"of_tests.{name}"))
