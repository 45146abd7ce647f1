#include "pjrt/mock/storage.h"

#include <cstring>

#include "pjrt/mock/element_packing.h"

namespace framedex::mock {

Storage::Storage(std::shared_ptr<char> bytes, std::shared_ptr<EventState> ready)
    : bytes_(std::move(bytes)), ready_(std::move(ready)), address_(bytes_.get()) {}

Storage::Storage(std::shared_ptr<char> reserved, std::shared_ptr<EventState> ready, Delegate* delegate)
    : bytes_(std::move(reserved)), ready_(std::move(ready)), delegate_(delegate) {}

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
  if (!python::is_usable()) {
    status = {PJRT_Error_Code_UNAVAILABLE, "Python has ended, and with it what the program computed."};
    return nullptr;
  }
  python::Gil gil;
  python::Reference piece = delegate_->piece(*whole_, index_);
  known = piece ? delegate_->address(piece.get()) : nullptr;
  if (known == nullptr) {
    status = python::take_error();
    return nullptr;
  }
  piece_ = std::move(piece);
  address_.store(known, std::memory_order_release);
  return known;
}

void Storage::set_array(std::shared_ptr<CpuArray> whole, size_t index) {
  whole_ = std::move(whole);
  index_ = index;
  is_started_.store(true, std::memory_order_release);
}

python::Object* Storage::array(Delegate& delegate, const Shape& shape, int device_id) {
  if (whole_ == nullptr) {
    python::Reference made = delegate.array(bytes_, shape, device_id);
    if (!made) return nullptr;
    whole_ = std::make_shared<CpuArray>();
    whole_->array = std::move(made);
  }
  if (whole_->device_count == 1) return whole_->array.get();
  if (!piece_) piece_ = delegate.piece(*whole_, index_);
  return piece_.get();
}

}  // namespace framedex::mock
