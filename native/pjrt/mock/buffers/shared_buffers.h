// Buffers that use memory of another buffer or of the caller.
#pragma once

#include <memory>

#include "pjrt/mock/arrays/shape.h"
#include "pjrt/mock/buffers/storage.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// A storage without memory yet, and the event that becomes ready when it has memory.
struct AwaitedMemory {
  explicit AwaitedMemory(std::shared_ptr<const Shape> array_shape)
      : shape(std::move(array_shape)), storage(std::make_shared<Storage>(nullptr, ready)) {}

  // Makes the storage share the memory of `source` once that is ready. If `source` fails, so does the storage.
  void share(const std::shared_ptr<Storage>& source) const;

  std::shared_ptr<EventState> ready = std::make_shared<EventState>();
  std::shared_ptr<const Shape> shape;
  std::shared_ptr<Storage> storage;
};

void add_shared_buffer_functions(PJRT_Api& api);

}  // namespace framedex::mock
