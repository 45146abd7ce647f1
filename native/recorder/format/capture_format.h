// The capture format on disk, shared by the recorder, which writes it, and the reader, which decodes it.
//
// A capture is a folder. capture.json holds the metadata and is written by rename. process.fdx holds the modules and
// boundary functions. Each recorded thread has a thread-N.fdx; in ring mode its calls are in thread-N.ring.fdx.
//
// An .fdx stream consists of segments of kSegmentSize bytes. The first segment begins with the stream's header. A
// record never crosses a segment. Its 8-byte header is stored last, with release order, so a record is complete or
// absent even if the process is killed. Everything has a check (record_check.h). See docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/format/record_check.h"

namespace framedex::capture {

// The name of the metadata file, and its "format".
inline constexpr char kMetadataFile[] = "capture.json";
// The folders of kept files: compiled programs, Python source files, and contents of buffers.
inline constexpr char kPrograms[] = "programs";
inline constexpr char kSources[] = "sources";
inline constexpr char kBuffers[] = "buffers";
// Prefix of the reason why content was not kept.
inline constexpr char kNotKept[] = "not kept: ";
inline constexpr char kFormat[] = "framedex-capture";

// Stream names: the process's stream, and the prefix and suffix around a thread's number.
inline constexpr char kProcessStream[] = "process.fdx";
inline constexpr char kThreadStem[] = "thread-";
inline constexpr char kStreamSuffix[] = ".fdx";
inline constexpr char kRingSuffix[] = ".ring.fdx";
// The file with pending callbacks, followed by the threads' tables of open calls.
inline constexpr char kOpenCallsFile[] = "open-calls";
inline constexpr char kCrashFile[] = "crash.txt";

inline constexpr char kMagic[8] = {'F', 'R', 'A', 'M', 'E', 'D', 'E', 'X'};
inline constexpr uint32_t kVersion = 4;
inline constexpr size_t kSegmentSize = 256 * 1024;
inline constexpr uint32_t kNoModule = 0xFFFFFFFF;

// A kRing stream holds a thread's calls and reuses its oldest segments. Each segment begins with a segment record,
// whose number gives the order. The definitions that its calls refer to are in the thread's own stream.
enum class StreamKind : uint32_t { kProcess = 1, kThread = 2, kRing = 3 };

// The unit of times in a stream. Clock records tie ticks of the processor's counter to nanoseconds.
enum class ClockKind : uint32_t { kNanoseconds = 0, kCounter = 1 };

// A record's position in its stream is kSegmentSize times its segment's number, plus its offset in the segment.
// Segments are numbered over all ever begun, so outside a ring the position is the offset in the file.
struct StreamHeader {
  char magic[8];
  uint32_t version;
  StreamKind kind;
  uint64_t capture;  // random; the same in all streams of a capture
  uint32_t number;   // N of thread-N.fdx
  ClockKind clock;
  uint64_t thread_id;
  char thread_name[16];
  uint64_t check;  // check_of() all members above; the key of all other checks in the stream

  // The members below change while the stream is written.
  uint64_t written;  // position after the last record; a killed process may have written one more
  // The members below are sealed (record_check.h), with their offset in this header as `field`.
  uint64_t segments_begun;  // incremented before a segment is entered
  uint64_t stop_reasons;    // StopReason bits
  // With FRAMEDEX_VERIFY=1: the number of stacks compared with libgcc's walk, and of those that differed.
  uint64_t verified;
  uint64_t different;
  uint64_t missing_calls;  // calls that did not fit
  uint64_t segments;       // in the file; a ring reuses them in turn
  uint64_t queries;        // of a thread: calls that were only counted, in flight mode; 0 without a seal: none

  uint64_t expected_check() const { return check_of(magic, offsetof(StreamHeader, check)); }
};
static_assert(sizeof(StreamHeader) == 128);
static_assert(offsetof(StreamHeader, written) == 64);

// Reasons why a stream is incomplete. A bit mask: several may apply.
enum class StopReason : uint32_t {
  kDiskFull = 1,
  kLimit = 2,
  kNoFile = 4,         // a file could not be opened or mapped: too many open files, or the folder was deleted
  kThreadMissing = 8,  // in process.fdx: a thread's file could not be created, so its calls are missing
  kStopped = 16,       // in process.fdx: recording was stopped before the process ended
};

enum class RecordKind : uint16_t {
  kPadding = 1,  // fills the rest of a segment
  kModule = 2,
  kFunction = 3,
  kCode = 4,
  kFrame = 5,
  kStack = 6,
  kCall = 7,
  kReturn = 8,
  kClock = 9,
  kSegment = 10,
  kHandler = 11,
  kDescription = 12,
  kThread = 13,
  kMetadata = 14,
  kBase = 15,
  kInvocation = 16,
};

// Bits of a record's detail, used by calls and returns only; 0 in other records.
inline constexpr uint8_t kUnusedBytes = 7;     // mask: the number of unused bytes in the last word
inline constexpr uint8_t kLongHead = 8;        // begins with a CallRecord or ReturnRecord instead of a short head
inline constexpr unsigned kCallTimeShift = 4;  // the remaining bits belong to a call's short head

// `check` covers kind, detail, words and body. In a padding record, whose body is zeros, it excludes the body.
struct RecordHeader {
  uint8_t code;  // a RecordKind
  uint8_t detail;
  uint16_t words;  // 8 bytes each, this header included
  uint32_t check;

  RecordKind kind() const { return static_cast<RecordKind>(code); }
  size_t size() const { return size_t{words} * 8; }
  uint32_t start() const { return code | uint32_t{detail} << 8 | uint32_t{words} << 16; }
};
static_assert(sizeof(RecordHeader) == 8);
static_assert(kSegmentSize / 8 <= UINT16_MAX);

// Followed by path, build-id (raw bytes), fingerprint (text). The members after `size` describe the file when the
// module was first seen; zeros if there was none.
struct ModuleRecord {
  uint32_t id;
  uint32_t path_size;
  uint32_t build_id_size;
  uint32_t fingerprint_size;
  uint64_t base;
  uint64_t size;
  uint64_t file_size;
  uint64_t file_inode;
  int64_t file_modified_ns;
  int64_t file_changed_ns;
};

// Followed by field_count + 2 zero-terminated texts: boundary, name, then the names of the values.
struct BoundaryRecord {
  uint32_t id;
  uint32_t field_count;
};

// The code behind the boundary that calls of a function enter, `offset` bytes into a module (kNoModule: outside all
// modules). It replaces the recorder's own frame as the leaf of their stacks.
struct HandlerRecord {
  uint32_t function;
  uint32_t module;
  uint64_t offset;
};

// A description is two zero-terminated texts: its kind and a JSON object.

// Followed by filename, qualname, location table.
struct CodeRecord {
  uint32_t id;
  int32_t first_line;
  uint32_t filename_size;
  uint32_t qualname_size;
  uint32_t line_table_size;
  uint32_t reserved;
};

enum class FrameLanguage : uint32_t { kNative = 0, kPython = 1 };

// A frame: `offset` bytes into `owner`, a module (native; kNoModule: outside all modules) or a code object (Python).
struct FrameRecord {
  uint32_t id;
  FrameLanguage language;
  uint32_t owner;
  uint32_t is_returning;  // a Python frame whose function has ended and whose locals are being destroyed
  uint64_t offset;
};

// Whether the native and Python frames of a stack were merged, and otherwise why not.
enum class MergeOutcome : uint16_t {
  kMerged = 0,
  kNotTold = 1,        // a truncated stack; written by older recorders only
  kNoHost = 2,         // a run of Python frames without an interpreter frame on the native stack
  kCountMismatch = 3,  // interpreter frames on the native stack without a run of Python frames
  kHostMismatch = 4,   // address and symbol name different interpreter frames
};

// Followed by frame_count + python_count frame ids (uint32), innermost first.
struct StackRecord {
  uint32_t id;
  MergeOutcome outcome;
  uint16_t is_truncated;  // deeper than kMaximumFrames; the outermost frames are missing
  uint32_t frame_count;
  uint32_t python_count;
};

// The base of the short heads in a segment (call_heads.h): the next call's number and the time, both when the segment
// was entered. All calls of a segment need it. So it is stored twice at the segment's beginning and once in the middle.
// Followed by one word that links the segments with stacks, frames and code: the number of the latest earlier one, plus
// one (0: none).
struct BaseRecord {
  uint64_t sequence;
  uint64_t time;
};

// The long head of a call, followed by values. `sequence` numbers the calls of the thread; `time` is in units of the
// stream's clock.
struct CallRecord {
  uint64_t sequence;
  uint64_t time;
  uint32_t function;
  uint32_t stack;
};

// The long head of a return, followed by values.
struct ReturnRecord {
  uint64_t sequence;
  uint64_t time;
  int32_t error;
  uint32_t reserved;
};

// A call that has not returned, in a slot that is free if the sequence is 0. `check` covers the rest, so a slot that
// was being written is recognised.
struct OpenCall {
  CallRecord call;
  uint64_t position;  // of its record in the stream of the thread's calls; 0: not recorded
  uint64_t check;

  uint64_t expected_check(uint64_t key, size_t slot) const {
    CheckSum sum(key, slot, call.sequence);
    sum.add(call.time);
    sum.add(call.function | uint64_t{call.stack} << 32);
    sum.add(position);
    return sum.finish();
  }
};
// Flag in a position: the ring has overwritten the record, which was moved to the thread's own stream before.
inline constexpr uint64_t kIsMoved = uint64_t{1} << 63;

// A callback that a call registered and that was not invoked yet, in a slot that is free if the call's sequence is 0.
// The key of `check` is the capture's identity. The file kOpenCallsFile begins with kPendingSize bytes of such slots.
struct PendingCallback {
  CallRecord call;
  uint64_t object;  // whose state the callback is about
  uint32_t thread;  // number of the call's thread
  uint32_t reserved;
  uint64_t check;

  uint64_t expected_check(uint64_t key, size_t slot) const {
    CheckSum sum(key, slot, call.sequence);
    sum.add(call.time);
    sum.add(call.function | uint64_t{call.stack} << 32);
    sum.add(object);
    sum.add(thread);
    return sum.finish();
  }
};
static_assert(sizeof(PendingCallback) == 48);
inline constexpr size_t kPendingSize = size_t{16} * 1024;
inline constexpr size_t kPendingSlots = kPendingSize / sizeof(PendingCallback);

// A thread's open calls, outermost first. After the pending callbacks, the file kOpenCallsFile has one table for each
// thread, by its number. The thread overwrites its table in place, so a reader finds all open calls without reading the
// streams.
struct OpenCallTable {
  static constexpr size_t kSlots = 23;

  uint64_t capture;  // as in StreamHeader, like the members up to `thread_name`
  uint64_t thread_id;
  uint32_t number;
  ClockKind clock;
  char thread_name[16];
  uint64_t check;  // check_of() all members above; the key of the checks below

  // The members below change.
  uint64_t calls;      // made so far
  uint64_t last_time;  // of the latest call or return; 0: none
  OpenCall open[kSlots];
  uint64_t more;  // open calls without a slot
  uint64_t anchor_time;
  uint64_t anchor_nanoseconds;  // of CLOCK_MONOTONIC at `anchor_time`
  uint64_t anchor_check;
  uint64_t signal;  // the latest SIGSEGV, SIGABRT or the like on this thread; 0: none

  uint64_t expected_check() const {
    return check_of(reinterpret_cast<const char*>(this), offsetof(OpenCallTable, check));
  }
  uint64_t expected_anchor_check() const {
    CheckSum sum(check, kSlots, anchor_time);
    sum.add(anchor_nanoseconds);
    return sum.finish();
  }
};
static_assert(sizeof(OpenCallTable) == 1024);

// The same moment on the stream's clock and on CLOCK_MONOTONIC.
struct ClockRecord {
  uint64_t time;
  uint64_t nanoseconds;
};

// The invocation of a callback on this thread. `thread` and `sequence` are those of the call that registered it;
// `error` is the code with which it was invoked.
struct InvocationRecord {
  uint64_t time;
  uint64_t sequence;
  uint32_t thread;
  int32_t error;
};

// The number of a ring segment, counted from 0 over all segments that the thread has begun.
struct SegmentRecord {
  uint64_t number;
};

// In process.fdx: announces a thread's streams. Written once the streams exist.
struct ThreadRecord {
  uint32_t number;
  uint32_t has_ring;
};

// In process.fdx: the content of capture.json when it was written.
struct MetadataRecord {
  uint64_t size;
  uint64_t check;  // check_of() its bytes
};

// A value begins with a byte: kind in the lower four bits, field in the upper four. The field indexes the value names
// in the function's record. If it is kFieldFollows or more, two bytes with the field follow.
//
// Then comes the payload by kind. A count has seven bits a byte, lowest first; a byte's upper bit says that more
// follow. A list is a count, a byte with the element size, and the elements, which are signed integers.
enum class ValueKind : uint8_t {
  kInteger = 1,        // int64
  kReal = 2,           // double
  kAddress = 4,        // the lower 6 bytes; the others are zeros
  kText = 5,           // a count, and that many bytes of UTF-8
  kIntegers = 6,       // a list
  kAddresses = 7,      // a list
  kSize = 8,           // int64: size in bytes of data that was not recorded
  kMore = 9,           // no payload: further values did not fit
  kSmall = 10,         // a count: an integer from 0 to 2^32 - 1
  kTruth = 11,         // a count: 0 or 1
  kAddressLists = 12,  // a list: the length of each inner list, then the elements of all
  kNoAddress = 13,     // no payload: a null address
  kLongAddress = 14,   // uint64
};

inline constexpr uint16_t kFieldFollows = 15;
inline constexpr uint16_t kErrorMessageField = 0xFFFF;
inline constexpr size_t kAddressSize = 6;

constexpr uint8_t value_head(ValueKind kind, uint16_t field) {
  return static_cast<uint8_t>(static_cast<unsigned>(kind) | (field < kFieldFollows ? field : kFieldFollows) << 4u);
}

// Version 3 differs from the current version: there are no invocation records, and no file kOpenCallsFile. Base records
// lack the link between segments.
namespace version_3 {

inline constexpr uint32_t kVersion = 3;

}  // namespace version_3

// Version 2, which the reader supports and nothing writes, differs from version 3. Calls and returns have
// long heads only, there are no base records, and every record's detail is 0.
namespace version_2 {

inline constexpr uint32_t kVersion = 2;

// Followed by the payload, padded to 8 bytes. `count` belongs to texts and lists, whose elements have 8 bytes, and to
// kSmall and kTruth. There are no kinds after kAddressLists. An address has 8 bytes.
struct ValueHeader {
  uint16_t field;
  ValueKind kind;
  uint8_t reserved;
  uint32_t count;
};
static_assert(sizeof(ValueHeader) == 8);

}  // namespace version_2

// Version 1, which the reader supports and nothing writes, differs from version 2: each record has a mark instead of a
// check.
namespace version_1 {

inline constexpr uint32_t kVersion = 1;
inline constexpr uint16_t kRecordMark = 0xFDFD;

struct StreamHeader {
  char magic[8];
  uint32_t version;
  StreamKind kind;
  uint64_t thread_id;
  uint32_t stop_reasons;
  ClockKind clock;
  uint64_t verified;
  uint64_t different;
  char thread_name[16];
};
static_assert(sizeof(StreamHeader) == 64);

struct RecordHeader {
  uint32_t size;  // bytes, this header included; a multiple of 8
  RecordKind kind;
  uint16_t mark;  // kRecordMark
};
static_assert(sizeof(RecordHeader) == 8);

struct ModuleRecord {
  uint32_t id;
  uint32_t path_size;
  uint32_t build_id_size;
  uint32_t fingerprint_size;
  uint64_t base;
  uint64_t size;
};

}  // namespace version_1

constexpr size_t pad(size_t size) { return (size + 7) & ~size_t{7}; }

}  // namespace framedex::capture
