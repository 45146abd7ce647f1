#include "pjrt/behaviours/errors.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace framedex::behaviours {
namespace {

struct OwnError : PJRT_Error {
  Failure failure;
};

// The live errors of behaviours. An older plug-in's errors have no function table to recognise them by.
struct LiveErrors {
  std::mutex mutex;
  std::unordered_set<const PJRT_Error*> errors;
  std::atomic<size_t> count{0};
};

LiveErrors& live() {
  static auto* const errors = new LiveErrors;  // never destroyed: errors are read until the process ends
  return *errors;
}

const OwnError* own(const PJRT_Error* error) {
  if (live().count.load(std::memory_order_acquire) == 0) return nullptr;
  std::lock_guard lock(live().mutex);
  return live().errors.count(error) == 0 ? nullptr : static_cast<const OwnError*>(error);
}

void destroy(PJRT_Error* error) {
  {
    std::lock_guard lock(live().mutex);
    live().errors.erase(error);
    live().count.store(live().errors.size(), std::memory_order_release);
  }
  delete static_cast<OwnError*>(error);
}

void read_message(const PJRT_Error* error, const char** message, size_t* size) {
  const std::string& text = static_cast<const OwnError*>(error)->failure.message;
  *message = text.data();
  *size = text.size();
}

PJRT_Error_Code read_code(const PJRT_Error* error) { return static_cast<const OwnError*>(error)->failure.code; }

const PJRT_Error_FunctionTable kErrorFunctions = {
    PJRT_Error_FunctionTable_STRUCT_SIZE,
    sizeof(OwnError),
    nullptr,
    destroy,
    read_message,
    read_code,
    [](const PJRT_Error*, PJRT_Error_PayloadVisitor, void*) {},  // there are no payloads
};

const PJRT_Api* asked = nullptr;  // the plug-in, for its own errors

}  // namespace

PJRT_Error* make_error(const Failure& failure) {
  auto* error = new OwnError;
  error->vtable = &kErrorFunctions;
  error->failure = failure;
  std::lock_guard lock(live().mutex);
  live().errors.insert(error);
  live().count.store(live().errors.size(), std::memory_order_release);
  return error;
}

Failure read_error(const PJRT_Api& plugin, PJRT_Error* error) {
  if (const OwnError* ours = own(error)) return ours->failure;
  PJRT_Error_GetCode_Args code{};
  code.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE;
  code.error = error;
  plugin.PJRT_Error_GetCode(&code);
  PJRT_Error_Message_Args message{};
  message.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE;
  message.error = error;
  plugin.PJRT_Error_Message(&message);
  return {code.code, {message.message, message.message_size}};
}

void destroy_error(const PJRT_Api& plugin, PJRT_Error* error) {
  if (error == nullptr) return;
  if (own(error) != nullptr) return destroy(error);
  PJRT_Error_Destroy_Args args{};
  args.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE;
  args.error = error;
  plugin.PJRT_Error_Destroy(&args);
}

void add_error_functions(PJRT_Api& table, const PJRT_Api& plugin) {
  asked = &plugin;
  if (plugin.PJRT_Error_Destroy != nullptr) {
    table.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args* args) {
      own(args->error) != nullptr ? destroy(args->error) : asked->PJRT_Error_Destroy(args);
    };
  }
  if (plugin.PJRT_Error_Message != nullptr) {
    table.PJRT_Error_Message = [](PJRT_Error_Message_Args* args) {
      own(args->error) != nullptr ? read_message(args->error, &args->message, &args->message_size)
                                  : asked->PJRT_Error_Message(args);
    };
  }
  if (plugin.PJRT_Error_GetCode != nullptr) {
    table.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args* args) -> PJRT_Error* {
      if (own(args->error) == nullptr) return asked->PJRT_Error_GetCode(args);
      args->code = read_code(args->error);
      return nullptr;
    };
  }
  if (plugin.PJRT_Error_ForEachPayload != nullptr) {
    table.PJRT_Error_ForEachPayload = [](PJRT_Error_ForEachPayload_Args* args) -> PJRT_Error* {
      return own(args->error) == nullptr ? asked->PJRT_Error_ForEachPayload(args) : nullptr;
    };
  }
}

}  // namespace framedex::behaviours
