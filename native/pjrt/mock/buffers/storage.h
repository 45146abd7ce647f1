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
  // The result of a program, of so many bytes. `reserved` is the memory that the device accounts for it.
  Storage(Reservation reserved, int64_t bytes, std::shared_ptr<EventState> ready, Delegate* delegate);
  ~Storage();

  const std::shared_ptr<EventState>& ready() const { return ready_; }
  bool is_result() const { return delegate_ != nullptr; }
  // Whether a program can be started with it now: its bytes are written, or the program that makes it was started.
  bool is_startable() const {
    return is_result() ? is_started_.load(std::memory_order_acquire) : ready_->has_succeeded();
  }
  // Only of bytes of the mock's own.
  char* own_bytes() const { return bytes_.get(); }
  // Takes over the memory that the device accounts for an argument that was donated to this result.
  void take_memory(Storage& donated);

  // Copies `shape.bytes` bytes, elements of less than a byte one to a byte, to `target`. Only when ready, without
  // error. The first time, the GIL is taken to ask where the array is.
  Status read(const Shape& shape, char* target);
  // Where the bytes are, as read() finds them; nullptr with the reason in `status`.
  char* address(Status& status);

  // Makes this the bytes of `other`, which is ready, seen as an array of this shape. Before this is ready itself.
  Status share(std::shared_ptr<Storage> other, const Shape& shape);

  // Who else will read the memory: copies to the host that wait for it to be ready, storages that share it,
  // programs that will be started with it. No other program must reuse it before.
  std::atomic<int> pending_reads{0};

  // ---- With the GIL.

  // The program was started; this is its array, on one device, or piece `index` of one that is on several.
  void set_array(python::Held array);
  void set_piece(std::shared_ptr<const ShardedArray> whole, size_t index);
  const std::shared_ptr<const ShardedArray>& whole() const { return whole_; }  // nullptr on one device
  size_t index() const { return index_; }
  // Its array on one device of the CPU client, made of its bytes at the first use; borrowed. Null: an exception is set.
  python::Object* array(Delegate& delegate, const Shape& shape, int device_id);

 private:
  // With the GIL: the array on one device, taken out of the whole at the first use.
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
