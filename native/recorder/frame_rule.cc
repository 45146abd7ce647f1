// Reads .eh_frame: DWARF 4, section 6.4, and the Linux Standard Base's notes on augmentation and pointer encodings.
#include "recorder/frame_rule.h"

#include <array>
#include <cstring>
#include <string_view>

namespace framedex::recorder {
namespace {

// libgcc's look-up of the unwind entry (FDE) that covers an address.
struct UnwindBases {
  void* text;
  void* data;
  void* function;
};
extern "C" const void* _Unwind_Find_FDE(void* address, UnwindBases* bases);

constexpr uint64_t kRbp = 6;
constexpr uint64_t kRsp = 7;
constexpr uint64_t kReturnAddress = 16;
constexpr uint8_t kOpBreg6 = 0x76;  // DW_OP_breg6: rbp plus an offset
constexpr uint8_t kOpDeref = 0x06;

class Cursor {
 public:
  Cursor(const uint8_t* begin, const uint8_t* end) : position_(begin), end_(end) {}

  bool at_end() const { return position_ >= end_; }
  const uint8_t* position() const { return position_; }
  void skip(uint64_t bytes) { position_ += bytes; }

  template <typename Value>
  Value read() {
    Value value;
    std::memcpy(&value, position_, sizeof(value));
    position_ += sizeof(value);
    return value;
  }
  uint64_t unsigned_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      uint8_t byte = *position_++;
      value |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int64_t signed_leb() {
    int64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
      byte = *position_++;
      value |= static_cast<int64_t>(uint64_t{byte & 0x7Fu} << shift);
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) value |= -(int64_t{1} << shift);
    return value;
  }
  std::string_view text() {
    std::string_view value(reinterpret_cast<const char*>(position_));
    position_ += value.size() + 1;
    return value;
  }
  // Skips a pointer of a DW_EH_PE encoding.
  void skip_encoded(uint8_t encoding) {
    switch (encoding & 0x0F) {
      case 0x01:
        unsigned_leb();
        break;
      case 0x09:
        signed_leb();
        break;
      default:
        skip(encoded_size(encoding));
    }
  }
  static uint64_t encoded_size(uint8_t encoding) {
    switch (encoding & 0x07) {
      case 0x02:
        return 2;
      case 0x03:
        return 4;
      default:
        return 8;
    }
  }

 private:
  const uint8_t* position_;
  const uint8_t* end_;
};

// Where a register's value in the caller is found.
struct RegisterRule {
  enum Kind { kSame, kAtCfa, kUndefined, kOther } kind = kSame;
  int64_t offset = 0;
};

// A row of the table that call frame instructions describe; registers that the walk does not follow are left out.
struct Row {
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;
  const uint8_t* cfa_expression = nullptr;
  RegisterRule rbp;
  RegisterRule return_address;
};

struct CommonEntry {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation = false;
  bool is_signal_frame = false;
  Cursor instructions{nullptr, nullptr};
};

CommonEntry read_common_entry(const uint8_t* entry) {
  CommonEntry common;
  Cursor cursor(entry, nullptr);
  auto length = cursor.read<uint32_t>();
  const uint8_t* end = cursor.position() + length;
  cursor.skip(4);  // CIE id
  auto version = cursor.read<uint8_t>();
  std::string_view augmentation = cursor.text();
  if (version >= 4) cursor.skip(2);  // sizes of an address and of a segment selector
  common.code_alignment = cursor.unsigned_leb();
  common.data_alignment = cursor.signed_leb();
  if (version == 1) {
    cursor.skip(1);
  } else {
    cursor.unsigned_leb();
  }
  const uint8_t* instructions = cursor.position();
  if (!augmentation.empty() && augmentation[0] == 'z') {
    common.has_augmentation = true;
    uint64_t size = cursor.unsigned_leb();
    instructions = cursor.position() + size;
    for (char item : augmentation.substr(1)) {
      if (item == 'R') common.pointer_encoding = cursor.read<uint8_t>();
      if (item == 'L') cursor.skip(1);
      if (item == 'P') cursor.skip_encoded(cursor.read<uint8_t>());
      if (item == 'S') common.is_signal_frame = true;
    }
  }
  common.instructions = Cursor(instructions, end);
  return common;
}

// Runs call frame instructions up to an address.
class RowMachine {
 public:
  RowMachine(const CommonEntry& common, uint64_t location, uint64_t target)
      : common_(common), location_(location), target_(target) {}

  Row row;

  // False where an instruction is not understood. `initial` is the row that the common entry left, for `restore`.
  bool run(Cursor cursor, const Row& initial) {
    while (!cursor.at_end() && !passed_) {
      auto opcode = cursor.read<uint8_t>();
      if (!step(opcode, cursor, initial)) return false;
    }
    return true;
  }

 private:
  bool step(uint8_t opcode, Cursor& cursor, const Row& initial) {
    uint8_t low = opcode & 0x3F;
    switch (opcode >> 6) {
      case 1:
        advance(low);
        return true;
      case 2:
        set(low, {RegisterRule::kAtCfa, static_cast<int64_t>(cursor.unsigned_leb()) * common_.data_alignment});
        return true;
      case 3:
        restore(low, initial);
        return true;
      default:
        return extended(opcode, cursor, initial);
    }
  }

  bool extended(uint8_t opcode, Cursor& cursor, const Row& initial) {
    switch (opcode) {
      case 0x00:  // nop
        return true;
      case 0x02:  // advance_loc1
        advance(cursor.read<uint8_t>());
        return true;
      case 0x03:  // advance_loc2
        advance(cursor.read<uint16_t>());
        return true;
      case 0x04:  // advance_loc4
        advance(cursor.read<uint32_t>());
        return true;
      case 0x05: {  // offset_extended
        uint64_t number = cursor.unsigned_leb();
        set(number, {RegisterRule::kAtCfa, static_cast<int64_t>(cursor.unsigned_leb()) * common_.data_alignment});
        return true;
      }
      case 0x06:  // restore_extended
        restore(cursor.unsigned_leb(), initial);
        return true;
      case 0x07:  // undefined
        set(cursor.unsigned_leb(), {RegisterRule::kUndefined, 0});
        return true;
      case 0x08:  // same_value
        set(cursor.unsigned_leb(), {RegisterRule::kSame, 0});
        return true;
      case 0x09:    // register
      case 0x14: {  // val_offset
        uint64_t number = cursor.unsigned_leb();
        cursor.unsigned_leb();
        set(number, {RegisterRule::kOther, 0});
        return true;
      }
      case 0x0A:  // remember_state
        if (depth_ == saved_.size()) return false;
        saved_[depth_++] = row;
        return true;
      case 0x0B:  // restore_state
        if (depth_ == 0) return false;
        row = saved_[--depth_];
        return true;
      case 0x0C:  // def_cfa
        row.cfa_register = cursor.unsigned_leb();
        row.cfa_offset = static_cast<int64_t>(cursor.unsigned_leb());
        row.cfa_expression = nullptr;
        return true;
      case 0x0D:  // def_cfa_register
        row.cfa_register = cursor.unsigned_leb();
        row.cfa_expression = nullptr;
        return true;
      case 0x0E:  // def_cfa_offset
        row.cfa_offset = static_cast<int64_t>(cursor.unsigned_leb());
        return true;
      case 0x0F:  // def_cfa_expression
        row.cfa_expression = cursor.position();
        cursor.skip(cursor.unsigned_leb());
        return true;
      case 0x10:    // expression
      case 0x16: {  // val_expression
        uint64_t number = cursor.unsigned_leb();
        cursor.skip(cursor.unsigned_leb());
        set(number, {RegisterRule::kOther, 0});
        return true;
      }
      case 0x11: {  // offset_extended_sf
        uint64_t number = cursor.unsigned_leb();
        set(number, {RegisterRule::kAtCfa, cursor.signed_leb() * common_.data_alignment});
        return true;
      }
      case 0x12:  // def_cfa_sf
        row.cfa_register = cursor.unsigned_leb();
        row.cfa_offset = cursor.signed_leb() * common_.data_alignment;
        row.cfa_expression = nullptr;
        return true;
      case 0x13:  // def_cfa_offset_sf
        row.cfa_offset = cursor.signed_leb() * common_.data_alignment;
        return true;
      case 0x15: {  // val_offset_sf
        uint64_t number = cursor.unsigned_leb();
        cursor.signed_leb();
        set(number, {RegisterRule::kOther, 0});
        return true;
      }
      case 0x2E:  // GNU_args_size
        cursor.unsigned_leb();
        return true;
      default:
        return false;
    }
  }

  void advance(uint64_t units) {
    location_ += units * common_.code_alignment;
    passed_ = location_ > target_;
  }
  RegisterRule* slot(Row& of, uint64_t number) {
    return number == kRbp ? &of.rbp : number == kReturnAddress ? &of.return_address : nullptr;
  }
  void set(uint64_t number, RegisterRule rule) {
    if (RegisterRule* target = slot(row, number)) *target = rule;
  }
  void restore(uint64_t number, Row initial) {
    if (RegisterRule* target = slot(row, number)) *target = *slot(initial, number);
  }

  const CommonEntry& common_;
  uint64_t location_;
  uint64_t target_;
  bool passed_ = false;
  std::array<Row, 16> saved_;
  size_t depth_ = 0;
};

// GCC's prologue for a realigned stack: the CFA is the word at rbp plus an offset. False for other expressions.
bool is_word_at_rbp(const uint8_t* expression, int64_t* offset) {
  Cursor cursor(expression, nullptr);
  uint64_t size = cursor.unsigned_leb();
  const uint8_t* end = cursor.position() + size;
  if (size < 3 || cursor.read<uint8_t>() != kOpBreg6) return false;
  *offset = cursor.signed_leb();
  return cursor.position() + 1 == end && *cursor.position() == kOpDeref;
}

FrameRule rule_of_row(const Row& row) {
  if (row.return_address.kind == RegisterRule::kUndefined) return FrameRule::end();
  if (row.return_address.kind != RegisterRule::kAtCfa || row.return_address.offset != -8) return FrameRule::exotic();
  int64_t cfa_offset = row.cfa_offset;
  bool is_indirect = row.cfa_expression != nullptr;
  if (is_indirect && !is_word_at_rbp(row.cfa_expression, &cfa_offset)) return FrameRule::exotic();
  if (!is_indirect && row.cfa_register != kRbp && row.cfa_register != kRsp) return FrameRule::exotic();
  bool saves_rbp = row.rbp.kind == RegisterRule::kAtCfa;
  if (!saves_rbp && row.rbp.kind != RegisterRule::kSame) return FrameRule::exotic();
  if (!FrameRule::fits(cfa_offset) || !FrameRule::fits(row.rbp.offset)) return FrameRule::exotic();
  return FrameRule::standard(is_indirect || row.cfa_register == kRbp, is_indirect, cfa_offset, saves_rbp,
                             row.rbp.offset);
}

}  // namespace

FrameRule FrameRule::standard(bool cfa_from_rbp, bool cfa_is_indirect, int64_t cfa_offset, bool saves_rbp,
                              int64_t saved_rbp_offset) {
  uint64_t bits =
      (static_cast<uint64_t>(cfa_offset) & 0xFFFFFF) << 8 | (static_cast<uint64_t>(saved_rbp_offset) & 0xFFFFFF) << 32;
  if (cfa_from_rbp) bits |= kCfaFromRbp;
  if (cfa_is_indirect) bits |= kCfaIndirect;
  if (saves_rbp) bits |= kSavesRbp;
  bool has_frame_pointer = cfa_from_rbp && !cfa_is_indirect && saves_rbp && cfa_offset == 16 && saved_rbp_offset == -16;
  if (has_frame_pointer) bits |= kFramePointer;
  return FrameRule(bits);
}

FrameRule compute_rule(uintptr_t return_address, uintptr_t evaluator) {
  UnwindBases bases{};
  // The call is at the byte before: a call that does not return may be the last instruction of its function.
  uintptr_t target = return_address - 1;
  auto* entry = static_cast<const uint8_t*>(_Unwind_Find_FDE(reinterpret_cast<void*>(target), &bases));
  if (entry == nullptr) return FrameRule::unknown();
  Cursor cursor(entry, nullptr);
  auto length = cursor.read<uint32_t>();
  const uint8_t* end = cursor.position() + length;
  const uint8_t* back = cursor.position();
  CommonEntry common = read_common_entry(back - cursor.read<int32_t>());
  if (common.is_signal_frame) return FrameRule::exotic();
  cursor.skip(2 * Cursor::encoded_size(common.pointer_encoding));  // where the function begins, and its size
  if (common.has_augmentation) cursor.skip(cursor.unsigned_leb());

  auto begin = reinterpret_cast<uintptr_t>(bases.function);
  RowMachine initial(common, begin, UINT64_MAX);
  if (!initial.run(common.instructions, Row{})) return FrameRule::exotic();
  RowMachine machine(common, begin, target);
  machine.row = initial.row;
  if (!machine.run(Cursor(cursor.position(), end), initial.row)) return FrameRule::exotic();
  FrameRule rule = rule_of_row(machine.row);
  return evaluator != 0 && begin == evaluator ? rule.with_evaluator_mark() : rule;
}

}  // namespace framedex::recorder
