#include <algorithm>
#include <cstring>

#include "boundary/boundary.h"
#include "recorder/base/readable_memory.h"

namespace framedex::boundary {
namespace {

// Reads the arguments of a call in the order of the calling convention.
class ArgumentReader {
 public:
  explicit ArgumentReader(const Registers& registers) : registers_(registers) {}

  uint64_t integer() {
    return integers_ < architecture::kIntegerArguments ? registers_.integers[integers_++] : registers_.stack[stack_++];
  }
  uint64_t vector() {
    uint64_t bits;
    if (vectors_ == architecture::kVectorArguments) return registers_.stack[stack_++];
    std::memcpy(&bits, registers_.vectors[vectors_++], sizeof(bits));
    return bits;
  }

 private:
  const Registers& registers_;
  int integers_ = 0;
  int vectors_ = 0;
  int stack_ = 0;
};

template <typename Real>
double real(uint64_t bits) {
  Real value;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<double>(value);
}

// Writes a number, or an address if it is too large for a typical number.
void write_any(recorder::ArgumentWriter& writer, uint16_t field, uint64_t value) {
  auto number = static_cast<int64_t>(value);
  if (number == static_cast<int32_t>(value)) {
    writer.integer(field, number);
  } else {
    writer.address(field, reinterpret_cast<const void*>(value));
  }
}

// Writes a C string, or its address if the memory is not readable or the string is too long.
void write_text(recorder::ArgumentWriter& writer, uint16_t field, uint64_t address) {
  char text[recorder::ArgumentWriter::kMaximumText];
  constexpr uint64_t kPage = 4096;
  size_t size = 0;
  while (size < sizeof(text)) {
    uint64_t at = address + size;
    size_t rest = std::min<size_t>(sizeof(text) - size, kPage - at % kPage);  // the next page may be unmapped
    size_t copied = recorder::copy_readable(reinterpret_cast<const void*>(at), text + size, rest);
    if (copied == 0) break;
    size_t length = strnlen(text + size, copied);
    size += length;
    if (length < copied) return writer.text_or_size(field, text, size);
  }
  writer.address(field, reinterpret_cast<const void*>(address));
}

}  // namespace

void write_arguments(recorder::ArgumentWriter& writer, const Boundary& boundary, const Registers& registers) {
  ArgumentReader reader(registers);
  uint16_t field = 0;
  for (const Parameter& parameter : boundary.parameters) {
    switch (parameter.kind) {
      case Parameter::Kind::kInteger:
        writer.integer(field, static_cast<int32_t>(reader.integer()));
        break;
      case Parameter::Kind::kUnsigned:
        writer.integer(field, static_cast<uint32_t>(reader.integer()));
        break;
      case Parameter::Kind::kLong:
        writer.integer(field, static_cast<int64_t>(reader.integer()));
        break;
      case Parameter::Kind::kAddress:
        writer.address(field, reinterpret_cast<const void*>(reader.integer()));
        break;
      case Parameter::Kind::kText:
        write_text(writer, field, reader.integer());
        break;
      case Parameter::Kind::kDouble:
        writer.real(field, real<double>(reader.vector()));
        break;
      case Parameter::Kind::kFloat:
        writer.real(field, real<float>(reader.vector()));
        break;
      case Parameter::Kind::kAny:
        write_any(writer, field, reader.integer());
        break;
    }
    ++field;
  }
}

}  // namespace framedex::boundary
