// The transfer manager: the layout of arrays on a core, and copies of literals to and from it.
#include <cstring>

#include "tpu_legacy/api.h"
#include "tpu_legacy/shape.h"
#include "tpu_legacy/status.h"

struct XLA_TransferManager {};

namespace framedex::tpu_legacy {
namespace {

std::string text_of(const XLA_Shape& shape) {
  char text[256];
  return {text, write(shape, text, sizeof(text))};
}

enum class Direction { kToDevice, kToHost };

// Walks a literal and a buffer in parallel. The buffer has memory for each array and each tuple, outermost first; the
// literal has data for the arrays only.
class Transfer {
 public:
  Transfer(const XLA_Literal& literal, const XLA_ShapedBuffer& buffer, Direction direction, TF_Status* status)
      : literal_(literal), buffer_(buffer), direction_(direction), status_(status) {}

  void run() { copy(literal_.shape, buffer_.on_device_shape); }

 private:
  bool copy(const XLA_Shape& host, const XLA_Shape& device) {
    size_t node = node_++;
    if (!is_tuple(host)) return copy_array(host, device, node);
    if (host.ntuple_shapes != device.ntuple_shapes) return refuse(host, device);
    for (int i = 0; i < host.ntuple_shapes; ++i) {
      if (!copy(host.tuple_shapes[i], device.tuple_shapes[i])) return false;
    }
    return true;
  }

  bool copy_array(const XLA_Shape& host, const XLA_Shape& device, size_t node) {
    size_t leaf = leaf_++;
    bool is_there = node < buffer_.count && leaf < literal_.count;
    if (!is_there || !has_same_order(host, device) || literal_.sizes[leaf] > buffer_.bases[node].size) {
      return refuse(host, device);
    }
    void* on_host = literal_.buffers[leaf];
    void* on_device = buffer_.bases[node].opaque;
    size_t size = literal_.sizes[leaf];
    if (size == 0) return true;
    direction_ == Direction::kToDevice ? std::memcpy(on_device, on_host, size) : std::memcpy(on_host, on_device, size);
    return true;
  }

  bool refuse(const XLA_Shape& host, const XLA_Shape& device) {
    fail(status_, TpuStatusCode_unimplemented,
         "The mock TPU cannot copy between " + text_of(host) + " on the host and " + text_of(device) +
             " on the device.");
    return false;
  }

  const XLA_Literal& literal_;
  const XLA_ShapedBuffer& buffer_;
  Direction direction_;
  TF_Status* status_;
  size_t node_ = 0;
  size_t leaf_ = 0;
};

// The callback gets its own status, which it frees.
void to_host(XLA_TransferManager*, SE_Stream*, XLA_ShapedBuffer* buffer, XLA_Literal* literal,
             XLA_StatusCallbackFn callback, void* context) {
  auto* status = new TF_Status;
  Transfer(*literal, *buffer, Direction::kToHost, status).run();
  callback(context, status);
}

void write_table(XLA_TransferManager*, SE_Stream*, SE_DeviceMemoryBase* elements, size_t count, XLA_Shape*,
                 SE_DeviceMemoryBase* region, TF_Status* status) {
  if (count * sizeof(void*) > region->size) {
    return fail(status, TpuStatusCode_out_of_range, "The table of a tuple is larger than its memory.");
  }
  for (size_t i = 0; i < count; ++i) static_cast<void**>(region->opaque)[i] = elements[i].opaque;
}

}  // namespace

void add_transfer_functions(TpuApi& api) {
  api.TpuTransferManager_New = [] { return new XLA_TransferManager; };
  api.TpuTransferManager_Free = [](XLA_TransferManager* manager) { delete manager; };
  api.TpuTransferManager_HostShapeToDeviceShape = [](XLA_TransferManager*, XLA_Shape* host, XLA_Shape* device) {
    *device = copy_for_device(*host);
  };
  api.TpuTransferManager_ChooseCompactLayoutForShape = [](XLA_TransferManager*, XLA_Shape* host, XLA_Shape* output,
                                                          TF_Status*) { *output = copy_for_device(*host); };
  api.TpuTransferManager_GetByteSizeRequirement = [](XLA_TransferManager*, XLA_Shape* shape) {
    return byte_size(*shape);
  };
  api.TpuTransferManager_TransferLiteralToDeviceAsync = [](XLA_TransferManager*, SE_Stream*, XLA_Literal* literal,
                                                           XLA_ShapedBuffer* buffer, TF_Status* status) {
    Transfer(*literal, *buffer, Direction::kToDevice, status).run();
  };
  api.TpuTransferManager_TransferLiteralFromDevice = to_host;
  api.TpuTransferManager_CanShapedBufferBeAccessedNow = [](XLA_TransferManager*, SE_StreamExecutor*,
                                                           XLA_ShapedBuffer*) { return true; };
  api.TpuTransferManager_CanBufferBeAccessedNow = [](XLA_TransferManager*, SE_StreamExecutor*, SE_DeviceMemoryBase*) {
    return true;
  };
  api.TpuTransferManager_WriteSingleTupleIndexTable = write_table;
  api.TpuTransferManager_ReadDynamicShapes = [](SE_Stream*, XLA_ShapedBuffer*, const XLA_Shape& original,
                                                XLA_Shape* updated,
                                                TF_Status*) { *updated = copy_for_device(original); };
  api.HardwareLayout_HostShapeToDeviceShape = [](XLA_Shape* host, XLA_Shape* device) {
    *device = copy_for_device(*host);
  };
  api.HardwareLayout_ShapeSize = [](XLA_Shape* shape) { return byte_size(*shape); };
  api.HardwareLayout_ShapeSizeCompact = [](XLA_Shape* shape) { return byte_size(*shape); };
  api.HardwareLayout_ShapeSizeCompactRaw = [](XLA_Shape* shape) { return byte_size(*shape); };
}

}  // namespace framedex::tpu_legacy
