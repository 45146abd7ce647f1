// Arrays in a memory of the simulated machine.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/mock/client.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

void add_buffer_functions(PJRT_Api& api);

}  // namespace framedex::mock

// Elements lie densely in row-major order, types of less than a byte one to a byte.
struct PJRT_Buffer {
  PJRT_Buffer(PJRT_Buffer_Type element_type, std::vector<int64_t> dimensions, framedex::mock::Memory* place,
              std::shared_ptr<char> bytes)
      : type(element_type), dims(std::move(dimensions)), memory(place), data_(std::move(bytes)) {}

  // The bytes, held for as long as the caller needs them; nullptr once deleted.
  std::shared_ptr<char> data() const {
    std::lock_guard lock(mutex_);
    return data_;
  }
  void remove() {
    std::lock_guard lock(mutex_);
    data_.reset();
  }
  int64_t bytes() const;

  const PJRT_Buffer_Type type;
  const std::vector<int64_t> dims;
  framedex::mock::Memory* const memory;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<char> data_;
};
