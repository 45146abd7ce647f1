"""Python threads of another process: frames with lines, locks in use, and the GIL. The process need not be stopped.

Sources: CPython's Objects/locations.md (line tables), exception_handling_notes.txt (exception tables), and the C
structures of `_threadmodule.c`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from framedex.live.memory import Memory
from framedex.live.model import LiveFrame, LockObject, Python, PythonThread
from framedex.live.runtime import Runtime

_MAX_THREADS = 10_000
_MAX_FRAMES = 4_096
_MAX_TEXT_BYTES = 1 << 16
_MAX_TABLE_BYTES = 1 << 22
_MAX_SLOTS = 1 << 12
_ATTEMPTS = 5  # attempts to read the frames while they do not change
_LIST_ATTEMPTS = 50

_TYPE = 8  # offsetof(PyObject, ob_type)
_TYPE_NAME = 24  # offsetof(PyTypeObject, tp_name)
_BYTES_SIZE, _BYTES_DATA = 16, 32
_TEXT_LENGTH, _TEXT_STATE = 16, 32
_COMPACT, _ASCII = 32, 64  # masks in a text's state
_METHOD_SELF = 24  # offsetof(PyCFunctionObject, m_self)
_OWNED_BY_EVALUATOR = 3  # frames with this owner, or a higher one, run no Python code
_TAG = 3  # from 3.14 on, references in frames have a tag in their lowest bits
_GIL_BYTES = 216  # sizeof(struct _gil_runtime_state)

# Members of lockobject and rlockobject after the object's head of 16 bytes.
_LOCK = 16  # a pointer to a semaphore; from 3.14 on, a byte whose lowest bit is set while it is locked
_LOCK_FLAG = 32  # lockobject.locked, up to 3.13
_RLOCK_OWNER, _RLOCK_COUNT = 24, 32
_LOCK_TYPES = {"_thread.lock": "Lock", "_thread.RLock": "RLock"}


@dataclass(frozen=True, slots=True)
class _Code:
    """A code object; `instructions` is the address of its bytecode, `first_traceable` its first visible byte offset."""

    filename: str
    qualname: str
    first_line: int
    line_table: bytes
    exception_table: bytes
    instructions: int
    first_traceable: int
    local_count: int
    stack_size: int


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame at an address, and the byte offset of its current instruction.

    `evaluator` is an address inside the native frame that evaluates it, 0 if unknown.
    """

    address: int
    code: _Code
    instruction: int
    evaluator: int = 0


class PythonReader:
    """Reads the Python threads of a process. It caches code objects, so create a reader for each snapshot."""

    def __init__(self, memory: Memory, runtime: Runtime, folder: str) -> None:
        """Relative file names start in `folder`."""
        self._folder = folder
        self._memory, self._runtime, self._offsets = memory, runtime, runtime.offsets
        self._type_name = cache(self._read_type_name)
        self._code = cache(self._read_code)

    def read(self) -> Python:
        """The threads and the GIL. Raises OSError if the process ends meanwhile."""
        for _ in range(_ATTEMPTS - 1):
            with suppress(OSError):  # a thread ended, so that the list of threads led nowhere
                return self._try_read()
        return self._try_read()

    def _try_read(self) -> Python:
        gil, holder = self._read_gil()
        threads = [self._read_thread(state) for state in self._stable_thread_states()]
        return Python(
            self._runtime.minor,
            tuple(replace(thread, has_gil=state == holder) for state, thread in threads),
            gil,
        )

    def _read_gil(self) -> tuple[range, int]:
        """The addresses of the GIL, and the thread state that holds it; 0 if none."""
        if "runtime.gil" in self._offsets:  # 3.11
            owner, base = "runtime", self._runtime.address
        else:
            owner, base = (
                "interpreter",
                self._memory.word(self._runtime.address + self._offsets["runtime.interpreters_head"]),
            )
        start = base + self._offsets[f"{owner}.gil"]
        is_locked = self._memory.int32(base + self._offsets[f"{owner}.gil_locked"]) == 1
        holder = self._memory.word(base + self._offsets[f"{owner}.gil_holder"]) if is_locked else 0
        return range(start, start + _GIL_BYTES), holder

    def _stable_thread_states(self) -> list[int]:
        """The thread states, read twice: the list ends early where a thread ends while it is read."""
        longest: list[int] = []
        for _ in range(_LIST_ATTEMPTS):
            states = list(self._thread_states())
            if states == longest:
                return states
            longest = max(longest, states, key=len)
        return longest

    def _thread_states(self) -> Iterator[int]:
        left = _MAX_THREADS
        interpreter = self._memory.word(self._runtime.address + self._offsets["runtime.interpreters_head"])
        while interpreter and left:
            left -= 1
            state = self._memory.word(interpreter + self._offsets["interpreter.threads_head"])
            while state and left:
                left -= 1
                yield state
                state = self._memory.word(state + self._offsets["thread.next"])
            interpreter = self._memory.word(interpreter + self._offsets["interpreter.next"])

    def _read_thread(self, state: int) -> tuple[int, PythonThread]:
        tid = self._memory.word(state + self._offsets["thread.native_id"])
        identifier = self._memory.word(state + self._offsets["thread.id"])
        frames: list[_Frame] | None = None
        is_changing = True
        for _ in range(_ATTEMPTS):
            again = self._try_frames(state)
            is_changing = again is None or again != frames
            frames = again if again is not None else frames
            if not is_changing:
                break
        frames = frames or []
        evaluators = tuple(frame.evaluator for frame in frames)
        thread = PythonThread(tid, identifier, tuple(map(_make_live_frame, frames)), evaluators, is_changing)
        if is_changing:
            return state, thread
        try:
            held = tuple(lock for frame in frames for lock in self._held_locks(frame))
            reached = tuple(self._reached_locks(frames[0])) if frames else ()
        except OSError:  # the thread has left these frames meanwhile
            return state, thread
        return state, replace(thread, held=held, reached=reached)

    def _try_frames(self, state: int) -> list[_Frame] | None:
        """The frames of a thread, innermost first; None if they changed meanwhile, so that a pointer led nowhere."""
        try:
            return list(self._frames(state))
        except (OSError, UnicodeError, OverflowError):
            return None

    def _frames(self, state: int) -> Iterator[_Frame]:
        """The frames of a thread, innermost first.

        An evaluator runs several frames. From 3.12 on, a frame without Python code follows them, which is a local of
        the evaluator. In 3.11, the last of them is an entry frame, and the evaluator has a _PyCFrame as a local.
        """
        offsets, memory = self._offsets, self._memory
        cframe = 0
        if "thread.cframe" in offsets:
            cframe = memory.word(state + offsets["thread.cframe"])
            address = memory.word(cframe + offsets["cframe.current_frame"])
        else:
            address = memory.word(state + offsets["thread.current_frame"])
        run: list[_Frame] = []
        for _ in range(_MAX_FRAMES):
            if not address:
                break
            head = memory.read(address, offsets["frame.locals"])
            owner = head[offsets["frame.owner"]]
            evaluator = address if owner >= _OWNED_BY_EVALUATOR else 0
            if not evaluator and (frame := self._parse_frame_head(address, head)) is not None:
                run.append(frame)
            if "frame.is_entry" in offsets and head[offsets["frame.is_entry"]]:
                evaluator, cframe = cframe, memory.word(cframe + offsets["cframe.previous"])
            if evaluator:
                yield from (replace(frame, evaluator=evaluator) for frame in run)
                run.clear()
            address = _read_word(head, offsets["frame.previous"])
        yield from run

    def _parse_frame_head(self, address: int, head: bytes) -> _Frame | None:
        """The frame with these first bytes; None if it is invisible to Python."""
        offsets = self._offsets
        code = _read_word(head, offsets["frame.code"]) & ~(_TAG if self._runtime.minor >= 14 else 0)
        if not code or (read := self._code(code)) is None:
            return None
        instruction = _read_word(head, offsets["frame.instruction"]) - read.instructions
        is_incomplete = head[offsets["frame.owner"]] == 0 and instruction < read.first_traceable
        return None if is_incomplete else _Frame(address, read, instruction)

    def _read_code(self, address: int) -> _Code | None:
        """The code object at an address; None if another object is there, as below the outermost frame."""
        if self._type_name(self._memory.word(address + _TYPE)) != "code":
            return None
        memory, offsets = self._memory, self._offsets
        return _Code(
            filename=self._make_absolute(self._read_text(memory.word(address + offsets["code.filename"]))),
            qualname=self._read_text(memory.word(address + offsets["code.qualname"])),
            first_line=memory.int32(address + offsets["code.first_line"]),
            line_table=self._read_bytes(memory.word(address + offsets["code.line_table"])),
            exception_table=self._read_bytes(memory.word(address + offsets["code.exception_table"])),
            instructions=address + offsets["code.instructions"],
            first_traceable=self._first_traceable(address),
            local_count=memory.int32(address + offsets["code.local_count"]),
            stack_size=memory.int32(address + offsets["code.stack_size"]),
        )

    def _make_absolute(self, file: str) -> str:
        return file if file.startswith(("/", "<")) or not self._folder else f"{self._folder}/{file}"

    def _first_traceable(self, code: int) -> int:
        """The byte offset before which a frame is invisible: it is being created. From 3.13 on, before co_extra."""
        if self._runtime.minor < 13:
            return -1 << 31
        return self._memory.int32(code + self._offsets["code.instructions"] - 16) * 2

    def _read_text(self, address: int) -> str:
        length = min(self._memory.word(address + _TEXT_LENGTH), _MAX_TEXT_BYTES)
        state = self._memory.int32(address + _TEXT_STATE)
        if not state & _COMPACT:
            return "?"
        if state & _ASCII:
            return self._memory.read(address + self._offsets["text.ascii_data"], length).decode("ascii", "replace")
        width, encoding = {1: (1, "latin-1"), 2: (2, "utf-16-le"), 4: (4, "utf-32-le")}.get(
            state >> 2 & 7, (1, "latin-1")
        )
        content = self._memory.read(address + self._offsets["text.compact_data"], length * width)
        return content.decode(encoding, "surrogatepass")

    def _read_bytes(self, address: int) -> bytes:
        size = min(self._memory.word(address + _BYTES_SIZE), _MAX_TABLE_BYTES)
        return self._memory.read(address + _BYTES_DATA, size) if size else b""

    def _read_type_name(self, address: int) -> str:
        name = self._memory.word(address + _TYPE_NAME)
        return self._memory.read(name, 16).partition(b"\0")[0].decode("ascii", "replace")

    def _held_locks(self, frame: _Frame) -> Iterator[LockObject]:
        """The locks of the `with` statements around the current instruction.

        The interpreter keeps their `__exit__` on the frame's stack, below the values that an exception would remove.
        """
        depth = find_handler_depth(frame.code.exception_table, frame.instruction)
        if not 0 < depth <= min(frame.code.stack_size, _MAX_SLOTS):
            return
        first = frame.address + self._offsets["frame.locals"] + 8 * frame.code.local_count
        for address in self._memory.words(first, depth):
            lock = self._lock_of_exit_method(address)
            if lock is not None and lock.is_locked:
                yield lock

    def _lock_of_exit_method(self, value: int) -> LockObject | None:
        """The lock of a bound `__exit__`; from 3.14 on, the lock itself, which follows its unbound `__exit__`."""
        if self._runtime.minor >= 14:
            return self._lock_at(value & ~_TAG)
        try:
            if (
                self._type_name(self._memory.word(value + _TYPE)) != "builtin_function"
            ):  # _read_type_name truncates names to this length
                return None
            return self._lock_at(self._memory.word(value + _METHOD_SELF))
        except OSError:
            return None

    def _reached_locks(self, frame: _Frame) -> Iterator[LockObject]:
        """The locked locks on the stack of a frame, which a wait of this frame may be for; the top of the stack first.

        Values above the top are stale. Up to 3.13 the top is unknown, so compare the address that the thread waits on.
        """
        first = frame.address + self._offsets["frame.locals"] + 8 * frame.code.local_count
        count = frame.code.stack_size
        if "frame.stack_pointer" in self._offsets:
            top = self._memory.word(frame.address + self._offsets["frame.stack_pointer"])
            count = min(max(top - first, 0) // 8, count)
        if not 0 < count <= _MAX_SLOTS:
            return
        mask = ~_TAG if self._runtime.minor >= 14 else ~0
        for value in reversed(self._memory.words(first, count)):
            lock = self._lock_at(value & mask) or self._lock_of_exit_method(value)
            if lock is not None and lock.is_locked:
                yield lock

    def _lock_at(self, address: int) -> LockObject | None:
        """The lock at an address; None if another object or nothing is there."""
        try:
            kind = _LOCK_TYPES.get(self._type_name(self._memory.word(address + _TYPE)))
            if kind is None:
                return None
            owner = self._memory.word(address + _RLOCK_OWNER) if kind == "RLock" else 0
            if self._runtime.minor >= 14:
                return LockObject(address, kind, bool(self._memory.read(address + _LOCK, 1)[0] & 1), owner, 0)
            flag = self._memory.word(address + (_RLOCK_COUNT if kind == "RLock" else _LOCK_FLAG))
            is_locked = bool(flag if kind == "RLock" else flag & 0xFF)
            return LockObject(address, kind, is_locked, owner, self._memory.word(address + _LOCK))
        except OSError:
            return None


def _read_word(content: bytes, offset: int) -> int:
    return int.from_bytes(content[offset : offset + 8], "little")


def _make_live_frame(frame: _Frame) -> LiveFrame:
    line = find_line(frame.code.line_table, frame.code.first_line, frame.instruction) or frame.code.first_line
    return LiveFrame(frame.code.qualname, frame.code.filename, line)


@lru_cache(4096)
def find_line(table: bytes, first_line: int, instruction: int) -> int:
    """The line of the instruction at a byte offset, from a code object's location table; 0 if it has none."""
    line, end, position = first_line, 0, 0
    while position < len(table):
        head = table[position]
        kind = head >> 3 & 15
        end += ((head & 7) + 1) * 2
        if kind in (13, 14):  # without columns, and the long form
            value = _parse_varint(table, position + 1)
            line += -(value >> 1) if value & 1 else value >> 1
        elif 10 <= kind <= 12:
            line += kind - 10
        if instruction < end:
            return 0 if kind == 15 else max(line, 0)
        position += 1
        while position < len(table) and table[position] < 0x80:  # only the first byte of an entry has its high bit set
            position += 1
    return 0


def _parse_varint(table: bytes, position: int) -> int:
    """The integer of 6 bits a byte, the lowest first, at a position of a location table."""
    value = 0
    for shift, byte in enumerate(table[position : position + 6]):
        value |= (byte & 63) << 6 * shift
        if not byte & 64:
            break
    return value


def find_handler_depth(table: bytes, instruction: int) -> int:
    """The number of stack values that the exception handler around an instruction keeps; 0 without a handler.

    `table` is a code object's exception table: start, length, target, and depth with a flag, in 6 bits a byte.
    """
    numbers: list[int] = []
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if byte & 64:
            continue
        numbers.append(value)
        value = 0
        if len(numbers) == 4:
            start, length, _, depth = numbers
            if start * 2 <= instruction < (start + length) * 2:
                return depth >> 1
            numbers.clear()
    return 0
