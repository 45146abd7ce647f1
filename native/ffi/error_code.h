// Finds the code of the error that a handler returns, which the FFI API does not tell before version 0.5 (jaxlib 0.12).
#pragma once

#include <string_view>

#include "pjrt_c_api.h"

namespace framedex::ffi {

// While it lives, the handler of `frame` makes its errors through a function that notes their code. Before and after,
// the frame is as XLA made it; the errors are XLA's own throughout.
class ErrorCodeScope {
 public:
  explicit ErrorCodeScope(XLA_FFI_CallFrame* frame);
  ~ErrorCodeScope() { frame_->api = api_; }
  ErrorCodeScope(const ErrorCodeScope&) = delete;
  ErrorCodeScope& operator=(const ErrorCodeScope&) = delete;

  // XLA_FFI_Error_Code_UNKNOWN where it is not known.
  XLA_FFI_Error_Code code_of(XLA_FFI_Error* error, std::string_view* message) const;

 private:
  XLA_FFI_CallFrame* frame_;
  const XLA_FFI_Api* api_;
};

}  // namespace framedex::ffi
