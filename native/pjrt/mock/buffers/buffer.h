// Arrays in a memory of the simulated machine.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "pjrt/mock/arrays/shape.h"
#include "pjrt/mock/buffers/storage.h"
#include "pjrt/mock/devices/client.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Allocates memory to write to, or only reserves it. Returns RESOURCE_EXHAUSTED if there is not enough.
PJRT_Error* allocate(const Memory& memory, int64_t bytes, std::shared_ptr<char>* allocated);
PJRT_Error* reserve(const Memory& memory, int64_t bytes, Reservation* reserved);
// Counts the temporaries of a program that starts now. Returns RESOURCE_EXHAUSTED if there is not enough memory for
// them.
PJRT_Error* count_temporaries(const Memory& memory, int64_t bytes);

// Returns the error for a function called with a deleted buffer.
PJRT_Error* make_deleted_buffer_error(const char* function);
// Runs `action` when the buffer can be read, and returns an event for the end of the action. Until then no program
// reuses the memory.
std::shared_ptr<EventState> when_readable_later(std::shared_ptr<Storage> storage,
                                                std::function<Status(Storage&)> action);
// Like when_readable_later(), but runs `action` at once, at no extra cost, if the buffer can be read now.
template <typename Action>
std::shared_ptr<EventState> when_readable(std::shared_ptr<Storage> storage, Action action) {
  if (!storage->ready()->has_succeeded()) return when_readable_later(std::move(storage), std::move(action));
  ++storage->pending_reads;
  Status ended = action(*storage);
  --storage->pending_reads;
  if (ended.is_ok()) return ready_state();
  auto failed = std::make_shared<EventState>();
  failed->set(std::move(ended));
  return failed;
}

// While a buffer has external references, the runtime keeps it alive, so they do not keep its memory here.
class ExternalReferences {
 public:
  void increment() { ++count_; }
  // Returns false if there is none.
  bool decrement() {
    int64_t count = count_.load();
    while (count > 0) {
      if (count_.compare_exchange_weak(count, count - 1)) return true;
    }
    return false;
  }

 private:
  std::atomic<int64_t> count_{0};
};

void add_buffer_functions(PJRT_Api& api);

}  // namespace framedex::mock

struct PJRT_Buffer {
  PJRT_Buffer(std::shared_ptr<const framedex::mock::Shape> element_shape, framedex::mock::Memory* place,
              std::shared_ptr<framedex::mock::Storage> contents)
      : shape(std::move(element_shape)), memory(place), ready(contents->ready()), storage_(std::move(contents)) {}

  // Returns the buffer's content, which the caller may keep; nullptr once deleted.
  std::shared_ptr<framedex::mock::Storage> storage() const {
    std::lock_guard lock(mutex_);
    return storage_;
  }
  // Deletes the buffer and returns its content, nullptr if it was already deleted.
  std::shared_ptr<framedex::mock::Storage> remove() {
    std::lock_guard lock(mutex_);
    is_deleted_.store(true, std::memory_order_release);
    return std::move(storage_);
  }
  bool is_deleted() const { return is_deleted_.load(std::memory_order_acquire); }

  const std::shared_ptr<const framedex::mock::Shape> shape;
  framedex::mock::Memory* const memory;
  const std::shared_ptr<framedex::mock::EventState> ready;  // also set for a deleted buffer
  framedex::mock::ExternalReferences external_references;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<framedex::mock::Storage> storage_;
  std::atomic<bool> is_deleted_{false};
};
