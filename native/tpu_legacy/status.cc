#include "tpu_legacy/status.h"

#include <utility>

#include "tpu_legacy/api.h"

namespace framedex::tpu_legacy {

void fail(TF_Status* status, TpuStatusCode code, std::string message) {
  if (status == nullptr) return;
  status->code = code;
  status->message = std::move(message);
}

void unimplemented(TF_Status* status, const char* function) {
  fail(status, TpuStatusCode_unimplemented, std::string(function) + " is not implemented by the mock TPU.");
}

void add_status_functions(TpuApi& api) {
  api.TpuStatus_New = [] { return new TF_Status; };
  api.TpuStatus_Create = [](int32_t code, const char* message) {
    return new TF_Status{code, message == nullptr ? "" : message};
  };
  api.TpuStatus_Set = [](TF_Status* status, int32_t code, const char* message, int32_t length) {
    status->code = code;
    status->message.assign(message, static_cast<size_t>(length));
  };
  api.TpuStatus_Free = [](TF_Status* status) { delete status; };
  api.TpuStatus_Message = [](TF_Status* status) { return status->message.c_str(); };
  api.TpuStatus_Code = [](TF_Status* status) { return status->code; };
  api.TpuStatus_Ok = [](TF_Status* status) { return status->code == TpuStatusCode_ok; };
}

}  // namespace framedex::tpu_legacy
