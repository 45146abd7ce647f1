#include "pjrt/mock/buffers/storage.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "pjrt/mock/arrays/element_packing.h"
#include "pjrt/mock/delegate/execution_threads.h"

namespace framedex::mock {

namespace {

// Starts a thread that takes the GIL and releases dropped arrays; one thread for many arrays.
void release_soon() {
  static std::atomic<bool> is_asked_for{false};
  if (is_asked_for.exchange(true)) return;
  ExecutionThreads::instance().run_if_open([] {
    is_asked_for = false;
    python::release_dropped_with_gil();
  });
}

}  // namespace

Storage::Storage(std::shared_ptr<char> bytes, std::shared_ptr<EventState> ready)
    : bytes_(std::move(bytes)), ready_(std::move(ready)), address_(bytes_.get()) {}

Storage::Storage(Reservation reserved, int64_t bytes, std::shared_ptr<EventState> ready, Delegate* delegate)
    : reserved_(std::move(reserved)), ready_(std::move(ready)), delegate_(delegate), result_bytes_(bytes) {}

Storage::~Storage() {
  // The array is normally released when the GIL is next held. If large or many arrays wait, a thread takes the GIL for
  // it.
  constexpr int64_t kMuch = int64_t{1} << 20;
  constexpr size_t kMany = 1024;
  bool can_wait = !is_result() || (result_bytes_ < kMuch && python::dropped_count() < kMany);
  if (can_wait || !delegate_->is_usable()) return;
  array_ = {};
  whole_ = nullptr;
  release_soon();
}

const void* Storage::take_memory(Storage& donated) {
  reserved_ = std::move(donated.reserved_);
  bytes_ = donated.bytes_;
  return reserved_.address() != nullptr ? reserved_.address() : bytes_.get();
}

Status Storage::read(const Shape& shape, char* target) {
  if (shape.bytes == 0) return {};
  Status status;
  const char* source = address(status);
  if (source == nullptr) return status;
  int bits = is_result() ? packed_bits(shape.type) : 0;
  if (bits != 0) {
    unpack(source, bits, target, shape.bytes);
  } else {
    std::memcpy(target, source, static_cast<size_t>(shape.bytes));
  }
  return {};
}

char* Storage::address(Status& status) {
  char* known = address_.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  if (is_zeros_) return allocate_zeros(status);
  if (!python::is_usable()) {
    status = {PJRT_Error_Code_UNAVAILABLE, "Python has ended, so the results of the program are lost."};
    return nullptr;
  }
  python::Gil gil;
  python::Object* array = piece();
  known = array != nullptr ? delegate_->address(array) : nullptr;
  if (known == nullptr) {
    status = python::take_error();
    return nullptr;
  }
  address_.store(known, std::memory_order_release);
  return known;
}

void Storage::set_zeros() {
  is_zeros_ = true;
  is_started_.store(true, std::memory_order_release);
}

std::shared_ptr<Storage> Storage::copy_zeros(Reservation reserved) const {
  auto copy = std::make_shared<Storage>(std::move(reserved), result_bytes_, ready_, delegate_);
  copy->set_zeros();
  return copy;
}

char* Storage::allocate_zeros(Status& status) {
  std::call_once(zeros_once_, [this] {
    zeros_.reset(static_cast<char*>(std::calloc(static_cast<size_t>(std::max<int64_t>(result_bytes_, 1)), 1)));
    address_.store(zeros_.get(), std::memory_order_release);
  });
  if (zeros_ == nullptr) status = {PJRT_Error_Code_RESOURCE_EXHAUSTED, "The host has no memory for a result."};
  return zeros_.get();
}

Status Storage::share(std::shared_ptr<Storage> other, const Shape& shape) {
  if (shape.bytes == 0) return {};
  Status status;
  if (other->is_result() && packed_bits(shape.type) != 0) {
    bytes_.reset(new char[static_cast<size_t>(shape.bytes)], std::default_delete<char[]>());
    status = other->read(shape, bytes_.get());
  } else if (char* address = other->address(status)) {
    ++other->pending_reads;
    bytes_.reset(address, [other = std::move(other)](char*) { --other->pending_reads; });
  }
  address_.store(bytes_.get(), std::memory_order_release);
  return status;
}

void Storage::set_array(python::OwnedReference array) {
  array_ = std::move(array);
  is_started_.store(true, std::memory_order_release);
}

void Storage::set_piece(std::shared_ptr<const ShardedArray> whole, size_t index) {
  whole_ = std::move(whole);
  index_ = index;
  is_started_.store(true, std::memory_order_release);
}

python::Object* Storage::array(Delegate& delegate, const Shape& shape, int device_id) {
  if (!array_ && whole_ == nullptr) array_ = delegate.array(bytes_, shape, device_id);
  return piece();
}

python::Object* Storage::piece() {
  if (!array_ && whole_ != nullptr) array_ = delegate_->piece(*whole_, index_);
  return array_.get();
}

}  // namespace framedex::mock
