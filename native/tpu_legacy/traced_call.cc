#include "tpu_legacy/traced_call.h"

#include <numeric>

namespace framedex::tpu_legacy {
namespace {

// Joins texts, truncated to the length that the recorder keeps.
class JoinedText {
 public:
  template <typename Write>
  void add(Write write) {
    if (size_ > 0) append(", ");
    size_ += write(text_ + size_, sizeof(text_) - size_);
  }
  void append(const char* text) {
    while (*text != '\0' && size_ < sizeof(text_)) text_[size_++] = *text++;
  }
  void write_to(ArgumentWriter& writer, uint16_t field) const { writer.text(field, {text_, size_}); }

 private:
  char text_[ArgumentWriter::kMaximumText];
  size_t size_ = 0;
};

}  // namespace

void write_texts(ArgumentWriter& writer, uint16_t field, const char* const* values, size_t count) {
  JoinedText joined;
  for (size_t i = 0; values != nullptr && i < count; ++i) {
    if (i > 0) joined.append(", ");
    joined.append(values[i]);
  }
  joined.write_to(writer, field);
}

void write_memories(ArgumentWriter& writer, uint16_t field, const SE_DeviceMemoryBase* memories, size_t count) {
  constexpr size_t kMost = 64;
  const void* addresses[kMost];
  size_t kept = memories == nullptr ? 0 : (count < kMost ? count : kMost);
  for (size_t i = 0; i < kept; ++i) addresses[i] = memories[i].opaque;
  writer.addresses(field, addresses, kept);
}

void write_shape(ArgumentWriter& writer, uint16_t field, const XLA_Shape& shape) {
  write_shapes(writer, field, &shape, 1);
}

void write_shapes(ArgumentWriter& writer, uint16_t field, const XLA_Shape* shapes, int count) {
  JoinedText joined;
  for (int i = 0; shapes != nullptr && i < count; ++i) {
    joined.add([&](char* text, size_t capacity) { return write(shapes[i], text, capacity); });
  }
  joined.write_to(writer, field);
}

void write_literal_bytes(ArgumentWriter& writer, uint16_t field, const XLA_Literal& literal) {
  size_t bytes = std::accumulate(literal.sizes, literal.sizes + literal.count, size_t{0});
  writer.integer(field, static_cast<int64_t>(bytes));
}

void write_inputs(ArgumentWriter& writer, uint16_t field, const SE_ExecutionInput* const* inputs, int count) {
  JoinedText joined;
  for (int i = 0; inputs != nullptr && i < count; ++i) {
    joined.add([&](char* text, size_t capacity) { return write(inputs[i]->shape_tree.shape, text, capacity); });
  }
  joined.write_to(writer, field);
}

void leave(recorder::Call& call, const TpuApi& api, TF_Status* status) {
  if (succeeded(api, status)) return call.leave(0, {});
  call.leave(api.TpuStatus_Code(status), api.TpuStatus_Message(status));
}

}  // namespace framedex::tpu_legacy
