#include "pjrt/mock/base/error.h"

#include <utility>

#include "pjrt/mock/base/unimplemented.h"

namespace framedex::mock {
namespace {

struct Error : PJRT_Error {
  Status status;
};

const Error* own(const PJRT_Error* error) { return static_cast<const Error*>(error); }

void destroy(PJRT_Error* error) { delete own(error); }

void read_message(const PJRT_Error* error, const char** message, size_t* size) {
  *message = own(error)->status.message.data();
  *size = own(error)->status.message.size();
}

PJRT_Error_Code read_code(const PJRT_Error* error) { return own(error)->status.code; }

void for_each_payload(const PJRT_Error* error, PJRT_Error_PayloadVisitor visit, void* argument) {
  for (const auto& [name, value] : own(error)->status.payloads) {
    visit(name.data(), name.size(), value.data(), value.size(), argument);
  }
}

const PJRT_Error_FunctionTable kFunctions = {
    PJRT_Error_FunctionTable_STRUCT_SIZE, sizeof(Error), nullptr, destroy, read_message, read_code, for_each_payload};

}  // namespace

PJRT_Error* Status::to_error() const { return is_ok() ? nullptr : make_error(*this); }

PJRT_Error* make_error(PJRT_Error_Code code, std::string message) {
  return make_error(Status{code, std::move(message)});
}

PJRT_Error* make_error(Status status) {
  auto* error = new Error;
  error->vtable = &kFunctions;
  error->status = std::move(status);
  return error;
}

Status take_status(PJRT_Error* error) {
  Status status = own(error)->status;
  destroy(error);
  return status;
}

PJRT_Error* unimplemented(const char* function) {
  return make_error(PJRT_Error_Code_UNIMPLEMENTED,
                    std::string(function) + " is not implemented by framedex's mock TPU.");
}

void add_error_functions(PJRT_Api& api) {
  api.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args* args) { destroy(args->error); };
  api.PJRT_Error_Message = [](PJRT_Error_Message_Args* args) {
    read_message(args->error, &args->message, &args->message_size);
  };
  api.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args* args) -> PJRT_Error* {
    args->code = read_code(args->error);
    return nullptr;
  };
  api.PJRT_Error_ForEachPayload = [](PJRT_Error_ForEachPayload_Args* args) -> PJRT_Error* {
    for_each_payload(args->error, args->visitor, args->user_arg);
    return nullptr;
  };
}

}  // namespace framedex::mock
