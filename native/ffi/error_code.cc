#include "ffi/error_code.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace framedex::ffi {
namespace {

bool returns_error_codes(const XLA_FFI_Api& api) { return api.api_version.minor_version >= 5; }

// XLA_FFI_Error_GetDetails_Args of version 0.5, the successor of XLA_FFI_Error_GetMessage_Args.
struct ErrorDetails {
  XLA_FFI_Error_GetMessage_Args arguments;
  XLA_FFI_Error_Code code;
};

const XLA_FFI_Api* xla = nullptr;
// Initial-exec: with other TLS models the first access may allocate.
thread_local __attribute__((tls_model("initial-exec"))) XLA_FFI_Error_Code noted_code = XLA_FFI_Error_Code_UNKNOWN;

XLA_FFI_Error* create_error_and_note_code(XLA_FFI_Error_Create_Args* args) {
  noted_code = args->errc;
  return xla->XLA_FFI_Error_Create(args);
}

// Copies XLA's table with one function replaced. A handler may keep the table, so it is never freed.
const XLA_FFI_Api* make_error_noting_table(const XLA_FFI_Api* api) {
  xla = api;
  auto* table = static_cast<XLA_FFI_Api*>(std::malloc(api->struct_size));
  if (table == nullptr) return api;
  std::memcpy(table, api, api->struct_size);
  table->XLA_FFI_Error_Create = create_error_and_note_code;
  return table;
}

}  // namespace

ErrorCodeScope::ErrorCodeScope(XLA_FFI_CallFrame* frame) : frame_(frame), api_(frame->api) {
  if (returns_error_codes(*api_)) return;
  static const XLA_FFI_Api* const table = make_error_noting_table(api_);
  noted_code = XLA_FFI_Error_Code_UNKNOWN;
  if (api_ == xla) frame->api = table;
}

XLA_FFI_Error_Code ErrorCodeScope::code_of(XLA_FFI_Error* error, std::string_view* message) const {
  ErrorDetails details{};
  bool has_code = returns_error_codes(*api_);
  details.arguments.struct_size =
      has_code ? offsetof(ErrorDetails, code) + sizeof(details.code) : XLA_FFI_Error_GetMessage_Args_STRUCT_SIZE;
  details.arguments.error = error;
  details.code = noted_code;
  api_->XLA_FFI_Error_GetMessage(&details.arguments);
  if (details.arguments.message != nullptr) *message = details.arguments.message;
  return details.code;
}

}  // namespace framedex::ffi
