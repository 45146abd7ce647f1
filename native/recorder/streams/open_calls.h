// Tables of open calls in a shared mapping. Another process can read each thread's open calls, even after a kill.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recorder/format/capture_format.h"
#include "recorder/streams/segments.h"
#include "recorder/streams/stream.h"

namespace framedex::recorder {

// The file with the pending callbacks, and the tables of all threads. Its mappings last as long as the process.
class OpenCallsFile {
 public:
  OpenCallsFile(std::string path, uint64_t capture) : path_(std::move(path)), capture_(capture) {}
  // Returns the table of the thread with this number; nullptr if the file cannot be created or extended.
  capture::OpenCallTable* table(uint32_t number);

  // Writes and removes a pending callback. The caller owns the slot. Nothing happens before the first table().
  void add_callback(size_t slot, const capture::CallRecord& call, const void* object, uint32_t thread);
  void remove_callback(size_t slot);

 private:
  std::string path_;
  uint64_t capture_;
  std::shared_ptr<SegmentFile> file_;
  std::atomic<capture::PendingCallback*> callbacks_{nullptr};
  std::vector<char*> segments_;
};

// A thread's open calls. Without a table in the file, it keeps them in the process.
class OpenCalls {
 public:
  OpenCalls(capture::OpenCallTable* table, const StreamIdentity& identity);
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  bool is_empty() const { return depth_ == 0; }
  uint32_t thread() const { return table_->number; }
  // Returns the innermost open call; nullptr if it has no slot.
  const capture::CallRecord* innermost() const {
    return depth_ - 1 < kSlots ? &table_->open[depth_ - 1].call : nullptr;
  }

  // `position` is that of the call's record, 0 if it has none.
  void begin(const capture::CallRecord& call, uint64_t position) {
    if (__builtin_expect(depth_ < kSlots, 1)) {
      write(depth_, call, position);
    } else {
      store(&table_->more, depth_ - kSlots + 1);
    }
    ++depth_;
    store(&table_->calls, call.sequence);
    store(&table_->last_time, call.time);
  }

  // Returns the flags in the position of the call's record.
  uint64_t end(uint64_t sequence, uint64_t time) {
    store(&table_->last_time, time);
    if (__builtin_expect(depth_ - 1 >= kSlots || table_->open[depth_ - 1].call.sequence != sequence, 0)) {
      return end_out_of_order(sequence);
    }
    return release(--depth_);
  }

  void anchor(const capture::ClockRecord& anchor);
  // Async-signal-safe.
  void note_signal(int number) { store(&table_->signal, static_cast<uint64_t>(number)); }

  // Passes each open call with a record in the `size` bytes from `position` on to `move`, which returns the record's
  // new position.
  template <typename Move>
  void move_records(uint64_t position, size_t size, Move move) {
    for (size_t slot = 0; slot < std::min(depth_, kSlots); ++slot) {
      const capture::OpenCall& open = table_->open[slot];
      bool is_there = open.call.sequence != 0 && open.position >= position && open.position - position < size;
      if (is_there) write(slot, open.call, move(open.call, open.position));
    }
  }

 private:
  static constexpr size_t kSlots = capture::OpenCallTable::kSlots;

  static void store(uint64_t* target, uint64_t word) {
    reinterpret_cast<std::atomic<uint64_t>*>(target)->store(word, std::memory_order_release);
  }
  void write(size_t slot, const capture::CallRecord& call, uint64_t position) {
    capture::OpenCall open{call, position, 0};
    open.check = open.expected_check(key_, slot);
    capture::OpenCall& target = table_->open[slot];
    target.call.time = open.call.time;
    target.call.function = open.call.function;
    target.call.stack = open.call.stack;
    target.position = open.position;
    target.check = open.check;
    store(&target.call.sequence, open.call.sequence);
  }
  uint64_t release(size_t slot) {
    capture::OpenCall& open = table_->open[slot];
    store(&open.call.sequence, 0);
    return open.position & capture::kIsMoved;
  }
  uint64_t end_out_of_order(uint64_t sequence);

  std::unique_ptr<capture::OpenCallTable> own_;
  capture::OpenCallTable* table_;
  uint64_t key_;
  size_t depth_ = 0;  // slots in use, and open calls without one
};

}  // namespace framedex::recorder
