// Streams and events. A call that enqueues work also does the work, so a recorded event has always happened, and waits
// return at once.
#include "tpu_legacy/stream.h"

#include <atomic>

#include "tpu_legacy/api.h"
#include "tpu_legacy/status.h"

struct SE_Event {
  std::atomic<bool> is_recorded{false};
};

namespace framedex::tpu_legacy {
namespace {

bool call_back(SE_StreamExecutor*, SE_Stream*, SE_StatusCallback callback, void* context) {
  TF_Status* status = callback(context);
  bool is_ok = status == nullptr || status->code == TpuStatusCode_ok;
  delete status;
  return is_ok;
}

}  // namespace

void add_stream_functions(TpuApi& api) {
  api.TpuStream_New = [](SE_StreamExecutor* executor) { return new SE_Stream{executor}; };
  api.TpuStream_Free = [](SE_Stream* stream) { delete stream; };
  api.TpuStream_Stream = [](SE_Stream* stream) -> void* { return stream; };
  api.TpuStream_Status = [](SE_Stream*) { return true; };
  api.TpuStream_IsSameSharedMemoryLocation = [](SE_Stream* one, SE_Stream* other) {
    return one->executor == other->executor;
  };
  api.TpuExecutor_AllocateStream = [](SE_StreamExecutor*, SE_Stream*) { return true; };
  api.TpuExecutor_CreateStreamDependency = [](SE_StreamExecutor*, SE_Stream*, SE_Stream*) { return true; };
  api.TpuExecutor_HostCallback = call_back;
  api.TpuExecutor_GetStatus = [](SE_StreamExecutor*, SE_Stream*, TF_Status*) {};
  api.TpuExecutor_BlockHostUntilDone = [](SE_StreamExecutor*, SE_Stream*, TF_Status*) {};
  api.TpuExecutor_BlockUntilDoneOrFailed = [](SE_StreamExecutor*, TF_Status*) {};
  api.TpuExecutor_SynchronizeAllActivity = [](SE_StreamExecutor*) { return true; };
  api.TpuExecutor_UnloadAllPrograms = [](SE_StreamExecutor*, TF_Status*) {};

  api.TpuEvent_New = [](SE_StreamExecutor*) { return new SE_Event; };
  api.TpuEvent_Free = [](SE_Event* event) { delete event; };
  api.TpuExecutor_AllocateEvent = [](SE_StreamExecutor*, SE_Event*, TF_Status*) {};
  api.TpuExecutor_DeallocateEvent = [](SE_StreamExecutor*, SE_Event*, TF_Status*) {};
  api.TpuExecutor_RecordEvent = [](SE_StreamExecutor*, SE_Stream*, SE_Event* event, TF_Status*) {
    event->is_recorded = true;
  };
  api.TpuExecutor_WaitForEvent = [](SE_StreamExecutor*, SE_Stream*, SE_Event*, TF_Status*) {};
  api.TpuExecutor_PollForEventStatus = [](SE_StreamExecutor*, SE_Event* event) -> int {
    return event->is_recorded ? TpuEventStatus_complete : TpuEventStatus_pending;
  };
}

}  // namespace framedex::tpu_legacy
