// The content of a buffer: bytes from the host, or an array that a program on jaxlib's CPU client computes.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "pjrt/mock/base/event.h"
#include "pjrt/mock/delegate/delegate.h"
#include "pjrt/mock/delegate/program.h"
#include "pjrt/mock/devices/memory.h"

namespace framedex::mock {

class Storage {
 public:
  // Bytes in the mock's own memory, writable until `ready`.
  Storage(std::shared_ptr<char> bytes, std::shared_ptr<EventState> ready);
  // A result of a program. The device accounts for it with `reserved`.
  Storage(Reservation reserved, int64_t bytes, std::shared_ptr<EventState> ready, Delegate* delegate);
  ~Storage();

  const std::shared_ptr<EventState>& ready() const { return ready_; }
  bool is_result() const { return delegate_ != nullptr; }
  // Whether a program with this argument can start now: the bytes are written, or the program that computes them has
  // started.
  bool is_startable() const {
    return is_result() ? is_started_.load(std::memory_order_acquire) : ready_->has_succeeded();
  }
  // Returns the bytes if they are in the mock's own memory, else nullptr.
  char* own_bytes() const { return bytes_.get(); }
  // Takes over the reservation of an argument donated to this result. Returns its address, or nullptr if the device
  // accounts for none.
  const void* take_memory(Storage& donated);

  // Copies `shape.bytes` bytes to `target`, sub-byte elements one per byte. Call only when ready without an error. The
  // first call takes the GIL to find the array's address.
  Status read(const Shape& shape, char* target);
  // Returns the address that read() copies from; nullptr with the reason in `status`.
  char* address(Status& status);

  // Makes this storage use the bytes of `other`, which is ready, as an array of this shape. Call before this is ready.
  Status share(std::shared_ptr<Storage> other, const Shape& shape);

  // The number of pending readers: copies to the host, storages that share the memory, and programs that will use it as
  // an argument. Until it is 0, no other program may reuse the memory.
  std::atomic<int> pending_reads{0};

  // Makes this result zeros, which use no host memory until they are read.
  void set_zeros();
  bool is_zeros() const { return is_zeros_; }
  // Returns a copy of these zeros. `reserved` is the device memory that the copy counts as. Call only if is_zeros().
  std::shared_ptr<Storage> copy_zeros(Reservation reserved) const;

  // ---- With the GIL.

  // Called when the program has started, with its array on one device, or with piece `index` of an array on several.
  void set_array(python::OwnedReference array);
  void set_piece(std::shared_ptr<const ShardedArray> whole, size_t index);
  const std::shared_ptr<const ShardedArray>& whole() const { return whole_; }  // nullptr on one device
  size_t index() const { return index_; }
  // Returns the array on one device of the CPU client, created from the bytes at first use; borrowed. Null: an
  // exception is set.
  python::Object* array(Delegate& delegate, const Shape& shape, int device_id);

 private:
  // Returns the zeros of this result; nullptr, with the reason in `status`, if the host has no memory for them.
  char* allocate_zeros(Status& status);
  // Returns the array on one device, extracted from the whole at first use. With the GIL.
  python::Object* piece();

  std::shared_ptr<char> bytes_;
  Reservation reserved_;
  std::shared_ptr<EventState> ready_;
  Delegate* delegate_ = nullptr;
  int64_t result_bytes_ = 0;
  std::atomic<bool> is_started_{false};
  bool is_zeros_ = false;
  std::once_flag zeros_once_;
  std::unique_ptr<char, decltype(&std::free)> zeros_{nullptr, std::free};
  std::atomic<char*> address_{nullptr};
  python::OwnedReference array_;  // on one device
  std::shared_ptr<const ShardedArray> whole_;
  size_t index_ = 0;
};

}  // namespace framedex::mock
