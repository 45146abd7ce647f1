#include "pjrt/contents.h"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "pjrt/element_size.h"
#include "pjrt/traced_call.h"

namespace framedex::pjrt {

// A read whose content is not stored yet. Several threads can notice its completion at once. Each waits until the
// content is stored, because the program may free the bytes after any of their calls.
struct PendingRead {
  uint64_t number;
  const char* bytes;
  size_t size;
  std::mutex mutex;  // guards `is_done`
  bool is_done = false;

  PendingRead(uint64_t number, const char* bytes, size_t size) : number(number), bytes(bytes), size(size) {}

  void finish(bool failed) {
    std::lock_guard lock(mutex);
    if (!is_done && !failed) recorder::keep_read(number, bytes, size);
    is_done = true;
  }
};

namespace {

// Leaked on purpose: events outlive static destructors.
struct PendingReads {
  std::mutex mutex;
  std::unordered_map<const PJRT_Event*, std::shared_ptr<PendingRead>> of_events;

  static PendingReads& instance() {
    static auto* reads = [] {
      pthread_atfork(nullptr, nullptr, forget_in_child);
      return new PendingReads;
    }();
    return *reads;
  }
  // Another thread may have held the lock at the fork. The reads belong to the parent.
  static void forget_in_child() {
    new (&instance()) PendingReads;
    pending_reads = 0;
  }
};

std::shared_ptr<PendingRead> find(const PJRT_Event* event) {
  PendingReads& reads = PendingReads::instance();
  std::lock_guard lock(reads.mutex);
  auto found = reads.of_events.find(event);
  return found == reads.of_events.end() ? nullptr : found->second;
}

void remove(const PJRT_Event* event, const std::shared_ptr<PendingRead>& read) {
  PendingReads& reads = PendingReads::instance();
  std::lock_guard lock(reads.mutex);
  auto found = reads.of_events.find(event);
  if (found == reads.of_events.end() || found->second != read) return;
  reads.of_events.erase(found);
  pending_reads = reads.of_events.size();
}

// Whether the strides, in bytes, describe a dense array in row-major order.
bool is_dense(const PJRT_Client_BufferFromHostBuffer_Args* args, int64_t element) {
  if (args->num_byte_strides != args->num_dims) return true;  // none: dense by definition
  int64_t expected = element;
  for (size_t i = args->num_dims; i-- > 0;) {
    if (args->dims[i] != 1 && args->byte_strides[i] != expected) return false;
    expected *= args->dims[i];
  }
  return true;
}

bool is_row_major(const PJRT_Buffer_MemoryLayout& layout) {
  if (layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled || layout.tiled.num_tiles != 0) return false;
  size_t rank = layout.tiled.minor_to_major_size;
  for (size_t i = 0; i < rank; ++i) {
    if (layout.tiled.minor_to_major[i] != static_cast<int64_t>(rank - 1 - i)) return false;
  }
  return true;
}

void append_elements(const PJRT_Client_BufferFromHostBuffer_Args* args, size_t axis, const char* begin, size_t element,
                     std::string& content) {
  if (axis == args->num_dims) {
    content.append(begin, element);
    return;
  }
  for (int64_t i = 0; i < args->dims[axis]; ++i) {
    append_elements(args, axis + 1, begin + i * args->byte_strides[axis], element, content);
  }
}

}  // namespace

std::atomic<size_t> pending_reads{0};

void keep_host_buffer(recorder::ArgumentWriter& writer, uint16_t field,
                      const PJRT_Client_BufferFromHostBuffer_Args* args) {
  int64_t size = dense_bytes(args->type, args->dims, args->num_dims);
  auto bytes = static_cast<const char*>(args->data);
  auto element = static_cast<int64_t>(element_bits(args->type) / 8);
  if (bytes == nullptr || size < 0) return;
  auto count = static_cast<size_t>(size);
  // A content over the limit is refused before it is read, so it needs no copy.
  if (is_dense(args, element) || size == 0 || count > recorder::largest_content()) {
    return recorder::keep_sent(writer, field, bytes, count);
  }
  try {
    std::string content;
    content.reserve(count);
    append_elements(args, 0, bytes, static_cast<size_t>(element), content);
    recorder::keep_sent(writer, field, content.data(), content.size());
  } catch (const std::bad_alloc&) {  // the call is recorded without its content
  }
}

void keep_transfer(recorder::ArgumentWriter& writer, uint16_t field, const void* bytes, int64_t size) {
  if (size >= 0) recorder::keep_sent(writer, field, static_cast<const char*>(bytes), static_cast<size_t>(size));
}

void keep_literal(recorder::ArgumentWriter& writer, uint16_t field,
                  const PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args) {
  if (args->shape_layout != nullptr && !is_row_major(*args->shape_layout)) return;
  keep_transfer(writer, field, args->data,
                dense_bytes(args->shape_element_type, args->shape_dims, args->shape_num_dims));
}

void keep_chunk(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Chunk* chunk) {
  if (chunk != nullptr) recorder::keep_sent(writer, field, static_cast<const char*>(chunk->data), chunk->size);
}

void expect_read(recorder::ArgumentWriter& writer, uint16_t field, const void* bytes, size_t size, PJRT_Event* event) {
  if (recorder::kept_contents() < recorder::Contents::kHash || bytes == nullptr || event == nullptr) return;
  try {
    auto read = std::make_shared<PendingRead>(recorder::begin_read(), static_cast<const char*>(bytes), size);
    PendingReads& reads = PendingReads::instance();
    std::lock_guard lock(reads.mutex);
    reads.of_events[event] = read;
    pending_reads = reads.of_events.size();
    writer.integer(field, static_cast<int64_t>(read->number));
  } catch (const std::bad_alloc&) {  // the call is recorded without its content
  }
}

void finish_read(const PJRT_Event* event, bool failed) {
  if (std::shared_ptr<PendingRead> read = find(event)) {
    read->finish(failed);
    remove(event, read);
  }
}

// A callback of the event still keeps its content.
void forget_read(const PJRT_Event* event) {
  if (std::shared_ptr<PendingRead> read = find(event)) remove(event, read);
}

void on_is_ready(const PJRT_Event_IsReady_Args* args, const PJRT_Error* error, const PJRT_Api* plugin) {
  if (error != nullptr || !args->is_ready || pending_reads.load(std::memory_order_acquire) == 0) return;
  if (find(args->event) == nullptr) return;
  PJRT_Event_Error_Args failure{};
  failure.struct_size = PJRT_Event_Error_Args_STRUCT_SIZE;
  failure.event = args->event;
  finish_read(args->event, discard(plugin->PJRT_Event_Error(&failure), plugin));
}

struct ReadCallback::Registration {
  std::shared_ptr<PendingRead> read;
  const PJRT_Event* event;
  PJRT_Event_OnReadyCallback callback;
  void* user;
};

ReadCallback::ReadCallback(PJRT_Event_OnReady_Args* args)
    : args_(args), callback_(args->callback), user_(args->user_arg) {
  if (pending_reads.load(std::memory_order_acquire) == 0 || args->callback == nullptr) return;
  std::shared_ptr<PendingRead> read = find(args->event);
  if (read == nullptr) return;
  registration_ = new (std::nothrow) Registration{read, args->event, args->callback, args->user_arg};
  if (registration_ == nullptr) {
    read->finish(/*failed=*/true);  // its end will not be seen
    return;
  }
  args->callback = invoke;
  args->user_arg = registration_;
}

ReadCallback::~ReadCallback() {
  if (registration_ == nullptr) return;
  args_->callback = callback_;
  args_->user_arg = user_;
  if (is_refused_) delete registration_;
}

void ReadCallback::invoke(PJRT_Error* error, void* user) {
  std::unique_ptr<Registration> registration(static_cast<Registration*>(user));
  registration->read->finish(error != nullptr);
  remove(registration->event, registration->read);
  registration->callback(error, registration->user);
}

}  // namespace framedex::pjrt
