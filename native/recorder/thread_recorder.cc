#include "recorder/thread_recorder.h"

#include <cstring>

#include "recorder/format/call_heads.h"

namespace framedex::recorder {

using capture::CallRecord;
using capture::ClockRecord;
using capture::CodeRecord;
using capture::FrameLanguage;
using capture::FrameRecord;
using capture::InvocationRecord;
using capture::MergeOutcome;
using capture::RecordKind;
using capture::ReturnRecord;
using capture::StackRecord;

namespace {

// A code object whose location table does not fit in a segment keeps only its first line.
constexpr size_t kMaximumLineTable = capture::kSegmentSize / 4;
constexpr size_t kMaximumName = 4096;
// The interval, in calls, at which a thread with known stacks checks for unloaded libraries and anchors its clock.
// During the first calls the clock is anchored at every power of two.
constexpr uint64_t kCheckInterval = 64;
constexpr uint64_t kAnchorInterval = 4096;
// On a busy machine a thread waits for the loader's lock between two walks, while other threads run.
constexpr int kVerifyAttempts = 16;

std::string_view shorten(const std::string& text, size_t limit) { return std::string_view(text).substr(0, limit); }

}  // namespace

std::unique_ptr<ThreadRecorder> ThreadRecorder::create(Session* session) {
  Session::ThreadStreams streams = session->create_thread_streams();
  if (streams.definitions == nullptr) return nullptr;
  return std::unique_ptr<ThreadRecorder>(new ThreadRecorder(session, std::move(streams)));
}

ThreadRecorder::ThreadRecorder(Session* session, Session::ThreadStreams streams)
    : session_(session),
      streams_(std::move(streams)),
      definitions_(*streams_.definitions),
      calls_(streams_.ring != nullptr ? *streams_.ring : definitions_),
      open_calls_(*streams_.open_calls),
      walker_(session->python(), session->unwinder()),
      unloads_(loader_changes().unloads) {
  if (streams_.ring == nullptr) return;
  calls_.before_overwriting([this](uint64_t position, const char* segment) {
    open_calls_.move_records(position, capture::kSegmentSize, [&](const CallRecord& call, uint64_t at) {
      return move_record(call, segment + (at - position));
    });
  });
}

uint64_t ThreadRecorder::enter(uint32_t function, const StartRegisters& start) {
  uint32_t stack = stack_id(start);
  if (__builtin_expect(stack == StackWalker::kInSignalHandler, 0)) {
    arguments_.clear();
    return kNotRecorded;
  }
  uint64_t sequence = calls_.number_call();
  if (sequence % kCheckInterval == 0 && forget_unloaded()) stack = stack_id(start);
  if (sequence % kAnchorInterval == 0 || (sequence & (sequence - 1)) == 0) anchor_clock();
  bool has_room = calls_.begin(sizeof(CallRecord) + arguments_.size()) != nullptr;
  CallRecord call{sequence, session_->clock().now(), function, stack};
  uint64_t position = has_room ? calls_.position() : 0;
  if (has_room) {
    write(calls_, RecordKind::kCall, call);
  } else {
    calls_.count_missing_call();
  }
  open_calls_.begin(call, position);
  arguments_.clear();
  return sequence;
}

void ThreadRecorder::leave(uint64_t sequence, int error, std::string_view message, uint64_t time) {
  bool is_moved = open_calls_.end(sequence, time) != 0;
  if (!message.empty()) arguments_.error_message(message);
  Stream& stream = is_moved ? definitions_ : calls_;
  if (stream.begin(sizeof(ReturnRecord) + arguments_.size()) != nullptr) {
    write(stream, RecordKind::kReturn, ReturnRecord{sequence, time, error, 0});
  }
  arguments_.clear();
}

bool ThreadRecorder::expect(uint64_t sequence, size_t slot, const void* object) {
  const CallRecord* call = open_calls_.innermost();
  if (call == nullptr || call->sequence != sequence) return false;
  session_->open_calls().add_callback(slot, *call, object, number());
  return true;
}

void ThreadRecorder::record_invocation(uint32_t thread, uint64_t sequence, int error) {
  if (char* body = calls_.begin(sizeof(InvocationRecord))) {
    InvocationRecord record{session_->clock().now(), sequence, thread, error};
    std::memcpy(body, &record, sizeof(record));
    calls_.commit(RecordKind::kInvocation);
  }
}

// Writes a record with the arguments. The caller must have reserved room for them and a long head.
template <typename Head>
void ThreadRecorder::write(Stream& stream, RecordKind kind, const Head& full) {
  bool is_short = capture::is_short(full, stream.base());
  capture::PackedHead head = is_short ? capture::short_head(full, stream.base()) : capture::long_head(full);
  size_t size = head.size + arguments_.size();
  size_t words = capture::pad(size) / sizeof(uint64_t);
  size_t unused = words * sizeof(uint64_t) - size;
  auto detail = static_cast<uint8_t>(head.detail | unused);
  Stream::Words record(&stream, kind, detail, words);
  for (size_t i = 0; i < words; ++i) {
    uint64_t word = arguments_.word_after_head(head.size, i);
    if (i < head.words.size()) word |= head.words[i];
    if (i == words - 1) word &= UINT64_MAX >> 8 * unused;
    record.put(word);
  }
  record.commit();
}

// Copies the record of an open call from the ring to the thread's own stream, with a long head: the ring is about to
// overwrite it. Returns its new position.
uint64_t ThreadRecorder::move_record(const CallRecord& call, const char* record) {
  capture::RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  bool is_short = (header.detail & capture::kLongHead) == 0;
  size_t before = sizeof(header) + (is_short ? capture::kShortSize<CallRecord> : sizeof(CallRecord));
  size_t size = header.size() - before - (header.detail & capture::kUnusedBytes);
  char* body = definitions_.begin(sizeof(call) + size);
  if (body == nullptr) return 0;
  size_t unused = capture::pad(size) - size;
  std::memcpy(body, &call, sizeof(call));
  std::memcpy(body + sizeof(call), record + before, size);
  std::memset(body + sizeof(call) + size, 0, unused);
  uint64_t position = definitions_.position();
  definitions_.commit(RecordKind::kCall, static_cast<uint8_t>(capture::kLongHead | unused));
  return position | capture::kIsMoved;
}

uint32_t ThreadRecorder::stack_id(const StartRegisters& start) {
  StackWalker::FoundStack found = walker_.find(start);
  if (__builtin_expect(found.is_new, 0)) {
    // The walk may have used the unwind rules of an unloaded library, and the ids its addresses.
    if (forget_unloaded()) found = walker_.walk(start);
    write_stack(found);
  }
  if (session_->settings().verify && found.id != StackWalker::kInSignalHandler) {
    definitions_.count_verified(!agrees_with_libgcc(start, found.id));
  }
  return found.id;
}

// Another thread may destroy a code object between the two walks. If that object shares a counter with one of this
// stack (python_runtime.cc), the second walk sees the latter as new. So a difference is checked again: a stale stack is
// walked again, while a wrong replay or a wrong walk differs every time.
bool ThreadRecorder::agrees_with_libgcc(const StartRegisters& start, uint32_t id) {
  for (int attempt = 0; attempt < kVerifyAttempts; ++attempt) {
    StackWalker::FoundStack truth = walker_.walk_with_libgcc(start);
    if (truth.is_new) write_stack(truth);
    if (truth.id == id) return true;
    StackWalker::FoundStack again = walker_.find(start);
    if (again.is_new) write_stack(again);
    id = again.id;
  }
  return false;
}

void ThreadRecorder::write_stack(const StackWalker::FoundStack& found) {
  const MergedStack& stack = found.stack;
  size_t count = stack.frame_count + stack.python_count;
  std::vector<uint32_t> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = frame_id(walker_.frames()[i]);
  char* body = definitions_.begin(sizeof(StackRecord) + count * sizeof(uint32_t));
  if (body == nullptr) return;
  StackRecord record{found.id, stack.outcome, stack.is_truncated, static_cast<uint32_t>(stack.frame_count),
                     static_cast<uint32_t>(stack.python_count)};
  std::memcpy(body, &record, sizeof(record));
  std::memcpy(body + sizeof(record), ids.data(), count * sizeof(uint32_t));
  definitions_.commit(RecordKind::kStack);
  definitions_.note_definition();
}

uint32_t ThreadRecorder::frame_id(const MergedFrame& frame) {
  WordPair key{frame.first, frame.second};
  uint32_t id = frames_.find(key);
  if (id != FlatMap::kAbsent) return id;
  FrameRecord record{next_frame_, FrameLanguage::kPython, 0, frame.is_returning(), frame.instruction()};
  if (frame.is_python()) {
    record.owner = code_id(frame);
  } else {
    uint64_t base = 0;
    record.language = FrameLanguage::kNative;
    // The byte before a return address belongs to the call, and so to the caller's module.
    record.owner = session_->module_of(frame.first - 1, &base);
    record.offset = frame.first - base;
  }
  if (char* body = definitions_.begin(sizeof(record))) {
    std::memcpy(body, &record, sizeof(record));
    definitions_.commit(RecordKind::kFrame);
    definitions_.note_definition();
  }
  frames_.insert(key, next_frame_);
  return next_frame_++;
}

uint32_t ThreadRecorder::code_id(const MergedFrame& frame) {
  WordPair key{frame.first, frame.identity()};
  uint32_t id = codes_.find(key);
  if (id != FlatMap::kAbsent) return id;
  CodeText code = session_->python().read_code(frame.first);
  std::string_view filename = shorten(code.filename, kMaximumName);
  std::string_view qualname = shorten(code.qualname, kMaximumName);
  std::string_view line_table = code.line_table.size() <= kMaximumLineTable ? std::string_view(code.line_table) : "";
  if (char* body = definitions_.begin(sizeof(CodeRecord) + filename.size() + qualname.size() + line_table.size())) {
    CodeRecord record{next_code_,
                      code.first_line,
                      static_cast<uint32_t>(filename.size()),
                      static_cast<uint32_t>(qualname.size()),
                      static_cast<uint32_t>(line_table.size()),
                      0};
    std::memcpy(body, &record, sizeof(record));
    body += sizeof(record);
    copy_text(body, filename);
    copy_text(body, qualname);
    copy_text(body, line_table);
    definitions_.commit(RecordKind::kCode);
    definitions_.note_definition();
  }
  session_->keep_source(code.filename);
  codes_.insert(key, next_code_);
  return next_code_++;
}

// Drops everything cached by address after a library was unloaded, because other code may be at its addresses.
bool ThreadRecorder::forget_unloaded() {
  uint64_t unloads = loader_changes().unloads;
  if (unloads == unloads_) return false;
  unloads_ = unloads;
  frames_.clear();
  walker_.forget();
  return true;
}

void ThreadRecorder::anchor_clock() {
  ClockRecord record{session_->clock().now(), monotonic_nanoseconds()};
  open_calls_.anchor(record);
  if (char* body = definitions_.begin(sizeof(ClockRecord))) {
    std::memcpy(body, &record, sizeof(record));
    definitions_.commit(RecordKind::kClock);
  }
}

}  // namespace framedex::recorder
