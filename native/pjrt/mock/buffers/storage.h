// What a buffer holds: bytes that the host wrote, or an array that a program on jaxlib's CPU client makes.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "pjrt/mock/base/event.h"
#include "pjrt/mock/delegate/delegate.h"
#include "pjrt/mock/delegate/program.h"
#include "pjrt/mock/devices/memory.h"

namespace framedex::mock {

class Storage {
 public:
  // Bytes in the mock's own memory; they may be written until `ready`.
  Storage(std::shared_ptr<char> bytes, std::shared_ptr<EventState> ready);
  // A result of a program. `reserved` is the memory that the device accounts for it.
  Storage(Reservation reserved, int64_t bytes, std::shared_ptr<EventState> ready, Delegate* delegate);
  ~Storage();

  const std::shared_ptr<EventState>& ready() const { return ready_; }
  bool is_result() const { return delegate_ != nullptr; }
  // Whether a program can be started with it now: its bytes are written, or the program that makes it has started.
  bool is_startable() const {
    return is_result() ? is_started_.load(std::memory_order_acquire) : ready_->has_succeeded();
  }
  // The bytes where they are in the mock's own memory, else nullptr.
  char* own_bytes() const { return bytes_.get(); }
  // Takes over the memory that the device accounts for an argument that was donated to this result. Returns where it
  // is, nullptr where the device accounts for none.
  const void* take_memory(Storage& donated);

  // Copies `shape.bytes` bytes, elements of less than a byte one to a byte, to `target`. Only when ready, without
  // error. The first time, the GIL is taken to ask where the array is.
  Status read(const Shape& shape, char* target);
  // Where the bytes are, as read() finds them; nullptr with the reason in `status`.
  char* address(Status& status);

  // Makes this storage use the bytes of `other`, which is ready, as an array of this shape. Called before this is
  // ready.
  Status share(std::shared_ptr<Storage> other, const Shape& shape);

  // Who else will read the memory: copies to the host that wait for it to be ready, storages that share it,
  // programs that will be started with it. No other program must reuse it before.
  std::atomic<int> pending_reads{0};

  // ---- With the GIL.

  // Called when the program was started, with its array on one device, or with piece `index` of one on several devices.
  void set_array(python::Held array);
  void set_piece(std::shared_ptr<const ShardedArray> whole, size_t index);
  const std::shared_ptr<const ShardedArray>& whole() const { return whole_; }  // nullptr on one device
  size_t index() const { return index_; }
  // The array on one device of the CPU client, made of the bytes at first use; borrowed. Null: an exception is set.
  python::Object* array(Delegate& delegate, const Shape& shape, int device_id);

 private:
  // The array on one device, taken out of the whole at first use. With the GIL.
  python::Object* piece();

  std::shared_ptr<char> bytes_;
  Reservation reserved_;
  std::shared_ptr<EventState> ready_;
  Delegate* delegate_ = nullptr;
  int64_t result_bytes_ = 0;
  std::atomic<bool> is_started_{false};
  std::atomic<char*> address_{nullptr};
  python::Held array_;  // on one device
  std::shared_ptr<const ShardedArray> whole_;
  size_t index_ = 0;
};

}  // namespace framedex::mock
