// What a capture folder holds on disk, shared by the recorder that writes it and the reader that decodes it.
//
// A capture is a folder: capture.json (metadata, written by rename), process.fdx (modules and boundary functions) and
// one thread-N.fdx per recorded thread, with its calls in a thread-N.ring.fdx beside it where those are a ring. An .fdx
// stream is segments of kSegmentSize bytes, of which the first begins with the stream's header; a record never crosses
// a segment. A record's 8-byte header is stored last, with release order, so a record is there whole or not at all,
// even when the process is killed. Everything has a check (record_check.h). See docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/format/record_check.h"

namespace framedex::capture {

// Of capture.json: its name, and its "format".
inline constexpr char kMetadataFile[] = "capture.json";
// The folders of kept files: compiled programs, and the source files that Python frames are in.
inline constexpr char kPrograms[] = "programs";
inline constexpr char kSources[] = "sources";
// Begins the reason why a content is in neither folder.
inline constexpr char kNotKept[] = "not kept: ";
inline constexpr char kFormat[] = "framedex-capture";

// Names of streams: that of the process, and what the number of a thread stands between.
inline constexpr char kProcessStream[] = "process.fdx";
inline constexpr char kThreadStem[] = "thread-";
inline constexpr char kStreamSuffix[] = ".fdx";
inline constexpr char kRingSuffix[] = ".ring.fdx";

inline constexpr char kMagic[8] = {'F', 'R', 'A', 'M', 'E', 'D', 'E', 'X'};
inline constexpr uint32_t kVersion = 3;
inline constexpr size_t kSegmentSize = 256 * 1024;
inline constexpr uint32_t kNoModule = 0xFFFFFFFF;

// kRing has the calls of a thread where its oldest segments are used again. Each of its segments begins with a segment
// record, whose number gives their order. What the calls refer to is in the thread's own stream.
enum class StreamKind : uint32_t { kProcess = 1, kThread = 2, kRing = 3 };

// The unit of the times in a stream. Ticks of the processor's counter are tied to nanoseconds by clock records.
enum class ClockKind : uint32_t { kNanoseconds = 0, kCounter = 1 };

// A record's position in its stream is kSegmentSize times the number of its segment, counted over all that were ever
// begun, plus its offset within the segment. Except in a ring, that is its offset in the file.
struct StreamHeader {
  char magic[8];
  uint32_t version;
  StreamKind kind;
  uint64_t capture;  // random; the same in all streams of a capture
  uint32_t number;   // N of thread-N.fdx
  ClockKind clock;
  uint64_t thread_id;
  char thread_name[16];
  uint64_t check;  // check_of() all members above; the key of every other check in the stream

  // The rest changes while the stream is written.
  uint64_t written;  // the position behind the last record; a killed process may have left one more
  // What follows is sealed (record_check.h), with its offset in this header as `field`.
  uint64_t segments_begun;  // counted before a segment is entered
  uint64_t stop_reasons;    // StopReason bits
  // With FRAMEDEX_VERIFY=1: how many stacks were compared with libgcc's walk, and how many of them differed.
  uint64_t verified;
  uint64_t different;
  uint64_t missing_calls;  // calls that were made and found no room
  uint64_t segments;       // in the file: those of a ring are used again in turn
  uint64_t reserved[1];

  uint64_t expected_check() const { return check_of(magic, offsetof(StreamHeader, check)); }
};
static_assert(sizeof(StreamHeader) == 128);
static_assert(offsetof(StreamHeader, written) == 64);

// Why something is missing from a stream: bits, since several may be true of one.
enum class StopReason : uint32_t {
  kDiskFull = 1,
  kLimit = 2,
  kNoFile = 4,         // a file could not be opened or mapped: too many are open, or its folder is gone
  kThreadMissing = 8,  // of process.fdx: the file of some thread could not be made, so its calls are missing
  kStopped = 16,       // of process.fdx: recording was switched off before the process ended
};

enum class RecordKind : uint16_t {
  kPadding = 1,  // the rest of a segment
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
};

// What a record's detail says of a call or a return; of the others nothing, and it is 0.
inline constexpr uint8_t kUnusedBytes = 7;     // a mask: how many bytes of its last word are no part of it
inline constexpr uint8_t kLongHead = 8;        // it begins with a CallRecord or ReturnRecord, not with the short form
inline constexpr unsigned kCallTimeShift = 4;  // the other bits belong to the short head of a call

// `check` covers kind, detail, words and body; in a padding record, whose body is zeros, all but the body.
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

// Followed by path, build-id (raw bytes), fingerprint (text). What follows `size` describes the file as it was when the
// module was met: zeros if there was none.
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

// Followed by field_count + 2 texts, each ended by a zero byte: boundary, name, then the names of the values.
struct BoundaryRecord {
  uint32_t id;
  uint32_t field_count;
};

// The code behind the boundary that calls of a function enter: `offset` bytes into a module (kNoModule: outside all).
// It is the leaf of their stacks, in place of the recorder's own frame.
struct HandlerRecord {
  uint32_t function;
  uint32_t module;
  uint64_t offset;
};

// A description is two texts, each ended by a zero byte: its kind and a JSON object.

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

// `owner` is a module (native; kNoModule: outside all) or a code object (Python); `offset` bytes into it.
struct FrameRecord {
  uint32_t id;
  FrameLanguage language;
  uint32_t owner;
  uint32_t is_returning;  // a Python frame that the thread is returning from: its locals are being destroyed
  uint64_t offset;
};

// Whether the native and the Python frames of a stack were merged, and why not.
enum class MergeOutcome : uint16_t {
  kMerged = 0,
  kNotTold = 1,        // of a truncated stack: written by older recorders only
  kNoHost = 2,         // a run of Python frames whose interpreter frame is not on the native stack
  kCountMismatch = 3,  // interpreter frames on the native stack that no run of Python frames accounts for
  kHostMismatch = 4,   // address and symbol name different interpreter frames
};

// Followed by frame_count + python_count frame ids (uint32), innermost first.
struct StackRecord {
  uint32_t id;
  MergeOutcome outcome;
  uint16_t is_truncated;  // deeper than kMaximumFrames: the outermost frames are missing
  uint32_t frame_count;
  uint32_t python_count;
};

// What the short heads of calls and returns in a segment are counted from (call_heads.h): the number of the next call,
// and the time, when the segment was entered. All calls of a segment need it, so it stands at the segment's beginning
// twice, and again in the middle.
struct BaseRecord {
  uint64_t sequence;
  uint64_t time;
};

// The long head of a call. Followed by values. `sequence` counts the calls of the thread; `time` is in the unit of the
// stream's clock.
struct CallRecord {
  uint64_t sequence;
  uint64_t time;
  uint32_t function;
  uint32_t stack;
};

// The long head of a return. Followed by values.
struct ReturnRecord {
  uint64_t sequence;
  uint64_t time;
  int32_t error;
  uint32_t reserved;
};

// The same moment by the stream's clock and by CLOCK_MONOTONIC.
struct ClockRecord {
  uint64_t time;
  uint64_t nanoseconds;
};

// The number of a ring's segment, counted from 0 over all segments that the thread has begun.
struct SegmentRecord {
  uint64_t number;
};

// In process.fdx: says that a thread has streams. Written once they are there.
struct ThreadRecord {
  uint32_t number;
  uint32_t has_ring;
};

// In process.fdx: what capture.json was when it was written.
struct MetadataRecord {
  uint64_t size;
  uint64_t check;  // check_of() its bytes
};

// A value is a byte with its kind in the lower four bits and its field, an index into the names of the function's
// record, in the others; where the field is kFieldFollows or more, two bytes with the field. Then what the kind says:
// a count is a number of seven bits a byte, the lower ones first, whose upper bit says that more follow; a list is a
// count, a byte with the size of its elements, and the elements, integers with their sign.
enum class ValueKind : uint8_t {
  kInteger = 1,        // int64
  kReal = 2,           // double
  kAddress = 4,        // its lower 6 bytes; the others are zeros
  kText = 5,           // a count, and so many bytes of UTF-8
  kIntegers = 6,       // a list
  kAddresses = 7,      // a list
  kSize = 8,           // int64: bytes that were there and not recorded
  kMore = 9,           // nothing: further values did not fit
  kSmall = 10,         // a count: an integer from 0 to 2^32 - 1
  kTruth = 11,         // a count: 0 or 1
  kAddressLists = 12,  // a list: the length of each list in it, then the elements of all
  kNoAddress = 13,     // nothing: an address of zero
  kLongAddress = 14,   // uint64
};

inline constexpr uint16_t kFieldFollows = 15;
inline constexpr uint16_t kErrorMessageField = 0xFFFF;
inline constexpr size_t kAddressSize = 6;

constexpr uint8_t value_head(ValueKind kind, uint16_t field) {
  return static_cast<uint8_t>(static_cast<unsigned>(kind) | (field < kFieldFollows ? field : kFieldFollows) << 4u);
}

// What differs in version 2, which is read and never written: calls and returns have long heads only, there are no base
// records, and the detail of every record is 0.
namespace version_2 {

inline constexpr uint32_t kVersion = 2;

// Followed by the payload, padded to 8 bytes: `count` is that of texts and lists, whose elements have 8 bytes, and what
// kSmall and kTruth mean. Kinds after kAddressLists did not exist; an address has 8 bytes.
struct ValueHeader {
  uint16_t field;
  ValueKind kind;
  uint8_t reserved;
  uint32_t count;
};
static_assert(sizeof(ValueHeader) == 8);

}  // namespace version_2

// What differs in version 1, which is read and never written, from version 2: it has no checks, only a mark in every
// record.
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

constexpr size_t padded(size_t size) { return (size + 7) & ~size_t{7}; }

}  // namespace framedex::capture
