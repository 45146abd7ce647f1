// Buffers that use the memory of somebody else: another buffer's, or the caller's own.
#pragma once

#include <memory>

#include "pjrt/mock/arrays/shape.h"
#include "pjrt/mock/buffers/storage.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// A storage that has no memory yet, and the event that makes it ready once it has.
struct Awaited {
  explicit Awaited(std::shared_ptr<const Shape> array_shape)
      : shape(std::move(array_shape)), storage(std::make_shared<Storage>(nullptr, ready)) {}

  // Lets the storage use the memory of `source` as soon as that is ready; where `source` fails, it fails too.
  void share(const std::shared_ptr<Storage>& source) const;

  std::shared_ptr<EventState> ready = std::make_shared<EventState>();
  std::shared_ptr<const Shape> shape;
  std::shared_ptr<Storage> storage;
};

void add_shared_buffer_functions(PJRT_Api& api);

}  // namespace framedex::mock
