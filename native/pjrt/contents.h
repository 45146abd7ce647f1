// Keeps the contents of buffers that calls carry, if the recording asks for them (recorder/kept_contents.h).
//
// A read is finished when its event is ready, which may be after the call has returned. From then on the program may
// free the bytes, so framedex keeps them before the program learns that the event is ready: in PJRT_Event_Await,
// PJRT_Event_IsReady, or before its callback of PJRT_Event_OnReady.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"
#include "recorder/kept_contents.h"

namespace framedex::pjrt {

// Keeps a host buffer in row-major order, and writes its file name.
void keep_host_buffer(recorder::ArgumentWriter& writer, uint16_t field,
                      const PJRT_Client_BufferFromHostBuffer_Args* args);
// Keeps a part of a buffer that is transferred.
void keep_transfer(recorder::ArgumentWriter& writer, uint16_t field, const void* bytes, int64_t size);
// Keeps a whole literal that is transferred in row-major order.
void keep_literal(recorder::ArgumentWriter& writer, uint16_t field,
                  const PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args);
// Keeps the data that a host callback sends to a program as its answer.
void keep_chunk(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Chunk* chunk);
// Registers a read whose content will be kept, and writes its number. `event` is ready when the `size` bytes at `bytes`
// are complete.
void expect_read(recorder::ArgumentWriter& writer, uint16_t field, const void* bytes, size_t size, PJRT_Event* event);

// The number of reads whose events are not ready. If it is zero, other calls do nothing more.
extern std::atomic<size_t> pending_reads;

// Keeps the content of the read that an event belongs to, if there is one and it has not failed.
void finish_read(const PJRT_Event* event, bool failed);

inline void on_await(const PJRT_Event_Await_Args* args, const PJRT_Error* error) {
  if (pending_reads.load(std::memory_order_acquire) != 0) finish_read(args->event, error != nullptr);
}
void on_is_ready(const PJRT_Event_IsReady_Args* args, const PJRT_Error* error, const PJRT_Api* plugin);
void forget_read(const PJRT_Event* event);
inline void on_destroy(const PJRT_Event_Destroy_Args* args) {
  if (pending_reads.load(std::memory_order_acquire) != 0) forget_read(args->event);
}

// Stores the content before the program's callback runs. During the lifetime of this object, the arguments contain
// framedex's callback.
class ReadCallback {
 public:
  explicit ReadCallback(PJRT_Event_OnReady_Args* args);
  ~ReadCallback();
  ReadCallback(const ReadCallback&) = delete;
  ReadCallback& operator=(const ReadCallback&) = delete;
  // Records whether the plug-in accepted the callback.
  void end(const PJRT_Error* error) { is_refused_ = error != nullptr; }

 private:
  struct Registration;
  static void invoke(PJRT_Error* error, void* user);

  PJRT_Event_OnReady_Args* args_;
  PJRT_Event_OnReadyCallback callback_;
  void* user_;
  Registration* registration_ = nullptr;  // freed by the callback
  bool is_refused_ = false;
};

}  // namespace framedex::pjrt
