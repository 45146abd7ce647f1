#include "recorder/streams/open_calls.h"

namespace framedex::recorder {

using capture::OpenCallTable;
using capture::PendingCallback;

namespace {

// The file grows by this many tables.
constexpr size_t kTables = capture::kPendingSize / sizeof(OpenCallTable);

}  // namespace

OpenCallTable* OpenCallsFile::table(uint32_t number) {
  if (file_ == nullptr) {
    file_ = SegmentFile::create(path_, capture::kPendingSize);
    if (file_ == nullptr || !file_->publish()) return nullptr;
  }
  size_t place = 1 + number / kTables;
  while (segments_.size() <= place) {
    char* segment = file_->segment(segments_.size() * capture::kPendingSize);
    if (segment == nullptr) return nullptr;
    segments_.push_back(segment);
  }
  callbacks_.store(reinterpret_cast<PendingCallback*>(segments_[0]), std::memory_order_release);
  return reinterpret_cast<OpenCallTable*>(segments_[place]) + number % kTables;
}

void OpenCallsFile::add_callback(size_t slot, const capture::CallRecord& call, const void* object, uint32_t thread) {
  PendingCallback* callbacks = callbacks_.load(std::memory_order_acquire);
  if (callbacks == nullptr) return;
  PendingCallback pending{call, reinterpret_cast<uintptr_t>(object), thread, 0, 0};
  pending.check = pending.expected_check(capture_, slot);
  PendingCallback& target = callbacks[slot];
  target.call.time = call.time;
  target.call.function = call.function;
  target.call.stack = call.stack;
  target.object = pending.object;
  target.thread = pending.thread;
  target.check = pending.check;
  reinterpret_cast<std::atomic<uint64_t>*>(&target.call.sequence)->store(call.sequence, std::memory_order_release);
}

void OpenCallsFile::remove_callback(size_t slot) {
  PendingCallback* callbacks = callbacks_.load(std::memory_order_acquire);
  if (callbacks == nullptr) return;
  reinterpret_cast<std::atomic<uint64_t>*>(&callbacks[slot].call.sequence)->store(0, std::memory_order_release);
}

OpenCalls::OpenCalls(OpenCallTable* table, const StreamIdentity& identity)
    : own_(table == nullptr ? new OpenCallTable{} : nullptr), table_(table == nullptr ? own_.get() : table) {
  table_->capture = identity.capture;
  table_->thread_id = identity.thread_id;
  table_->number = identity.number;
  table_->clock = identity.clock.kind();
  identity.thread_name.copy(table_->thread_name, sizeof(table_->thread_name) - 1);
  key_ = table_->expected_check();
  store(&table_->check, key_);
}

void OpenCalls::anchor(const capture::ClockRecord& anchor) {
  table_->anchor_time = anchor.time;
  table_->anchor_nanoseconds = anchor.nanoseconds;
  store(&table_->anchor_check, table_->expected_anchor_check());
}

// A call may outlast the calls around it: in a coroutine, or after a longjmp out of them.
uint64_t OpenCalls::end_out_of_order(uint64_t sequence) {
  size_t used = std::min(depth_, kSlots);
  size_t slot = 0;
  while (slot < used && table_->open[slot].call.sequence != sequence) ++slot;
  uint64_t flags = slot < used ? release(slot) : 0;
  if (slot == used && depth_ > kSlots) {
    --depth_;
    store(&table_->more, depth_ - kSlots);
  }
  if (depth_ > kSlots) return flags;
  while (depth_ > 0 && table_->open[depth_ - 1].call.sequence == 0) --depth_;
  return flags;
}

}  // namespace framedex::recorder
