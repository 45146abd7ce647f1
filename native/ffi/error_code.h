// Finds the code of a handler's error. The FFI API does not return it before version 0.5 (jaxlib 0.12).
#pragma once

#include <string_view>

#include "pjrt_c_api.h"

namespace framedex::ffi {

// While this exists, the handler of `frame` creates errors through a function that notes their code. The errors are
// still XLA's own. Before and after, the frame is unchanged.
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
