"""Answers as rows: sequences of dataclasses, convertible to pandas if it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from typing import Any, ClassVar, Generic, Protocol, TypeVar, overload


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Row = TypeVar("Row", bound=Dataclass)


@dataclass(frozen=True, slots=True)
class Table(Sequence[Row], Generic[Row]):
    """Rows of one kind, the most important first."""

    rows: tuple[Row, ...]

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a column for each field; a Python line becomes path, line and function.

        Raises ImportError if pandas is not installed.
        """
        pandas: Any = import_module("pandas")  # an optional dependency
        return pandas.DataFrame([_flat(row) for row in self.rows])


def _flat(row: Dataclass) -> dict[str, Any]:
    from framedex.model.rows import PythonLine

    flat: dict[str, Any] = {}
    for field in fields(row):
        value = getattr(row, field.name)
        if field.name == "line" and (value is None or isinstance(value, PythonLine)):
            flat["path"] = value.location.path if value else None
            flat["line"] = value.location.line if value else None
            flat["in_function"] = value.function if value else None
        elif isinstance(value, tuple):
            flat[field.name] = "; ".join(str(each) for each in value)
        else:
            flat[field.name] = str(value) if is_dataclass(value) else value
    return flat
