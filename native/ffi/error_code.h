// Finds the code of a handler's error. Before version 0.5 (jaxlib 0.12) the FFI API does not return it.
#pragma once

#include <string_view>

#include "pjrt_c_api.h"

namespace framedex::ffi {

// During the lifetime of this object, the handler of `frame` creates errors through a function that remembers their
// code. The errors are still XLA's own. The destructor restores the frame.
class ErrorCodeScope {
 public:
  explicit ErrorCodeScope(XLA_FFI_CallFrame* frame);
  ~ErrorCodeScope() { frame_->api = api_; }
  ErrorCodeScope(const ErrorCodeScope&) = delete;
  ErrorCodeScope& operator=(const ErrorCodeScope&) = delete;

  // Returns XLA_FFI_Error_Code_UNKNOWN if the code is unknown.
  XLA_FFI_Error_Code code_of(XLA_FFI_Error* error, std::string_view* message) const;

 private:
  XLA_FFI_CallFrame* frame_;
  const XLA_FFI_Api* api_;
};

}  // namespace framedex::ffi
