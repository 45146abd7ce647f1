// Parses .eh_frame: DWARF 4, section 6.4, and the Linux Standard Base's notes on augmentation and pointer encodings.
#include "recorder/walks/frame_rule.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "architecture/architecture.h"
#include "recorder/base/readable_memory.h"

namespace framedex::recorder {
namespace {

// libgcc's look-up of the unwind entry (FDE) for an address.
struct UnwindBases {
  void* text;
  void* data;
  void* function;
};
extern "C" const void* _Unwind_Find_FDE(void* address, UnwindBases* bases);

using architecture::kDwarfFramePointer;
using architecture::kDwarfReturnAddress;
using architecture::kDwarfStackPointer;
constexpr uint8_t kOpBregFp = 0x70 + kDwarfFramePointer;  // DW_OP_bregN: fp plus an offset
constexpr uint8_t kOpDeref = 0x06;

// Reads bytes front to back. Beyond the end it returns zeros and sets `is_broken`.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  bool is_broken() const { return broken_; }
  std::string_view rest() const { return bytes_; }
  std::string_view take(uint64_t size) {
    if (size > bytes_.size()) {
      broken_ = true;
      size = bytes_.size();
    }
    std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  template <typename Value>
  Value read() {
    Value value{};
    std::string_view taken = take(sizeof(value));
    if (taken.size() == sizeof(value)) std::memcpy(&value, taken.data(), sizeof(value));
    return value;
  }
  // Bits beyond the 64th are dropped.
  uint64_t unsigned_leb() {
    unsigned shift = 0;
    uint8_t last = 0;
    return leb(&shift, &last);
  }
  int64_t signed_leb() {
    unsigned shift = 0;
    uint8_t last = 0;
    uint64_t value = leb(&shift, &last);
    if (shift < 64 && (last & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  std::string_view text() {
    std::string_view value = take(std::min(bytes_.find('\0'), bytes_.size()));
    take(1);
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
        take(encoded_size(encoding));
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
  uint64_t leb(unsigned* shift, uint8_t* last) {
    uint64_t value = 0;
    do {
      *last = read<uint8_t>();
      if (*shift < 64) value |= uint64_t{*last & 0x7Fu} << *shift;
      *shift += 7;
    } while ((*last & 0x80) != 0);
    return value;
  }

  std::string_view bytes_;
  bool broken_ = false;
};

// The location of a register's value in the caller.
struct RegisterRule {
  enum Kind { kSame, kAtCfa, kUndefined, kOther } kind = kSame;
  int64_t offset = 0;
};

// A row of the table that call frame instructions describe, with only the registers that the walk follows.
struct Row {
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;
  std::string_view cfa_expression;  // empty: register plus offset
  RegisterRule fp;
  RegisterRule return_address;
};

struct CommonEntry {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation = false;
  bool is_signal_frame = false;
  std::string_view instructions;
};

// Returns false if the entry is truncated.
bool read_common_entry(std::string_view entry, CommonEntry* common) {
  Cursor cursor(entry);
  cursor.take(4);  // CIE id
  auto version = cursor.read<uint8_t>();
  std::string_view augmentation = cursor.text();
  if (version >= 4) cursor.take(2);  // sizes of an address and of a segment selector
  common->code_alignment = cursor.unsigned_leb();
  common->data_alignment = cursor.signed_leb();
  if (version == 1) {
    cursor.take(1);
  } else {
    cursor.unsigned_leb();
  }
  if (!augmentation.empty() && augmentation[0] == 'z') {
    common->has_augmentation = true;
    Cursor data(cursor.take(cursor.unsigned_leb()));
    for (char item : augmentation.substr(1)) {
      if (item == 'R') common->pointer_encoding = data.read<uint8_t>();
      if (item == 'L') data.take(1);
      if (item == 'P') data.skip_encoded(data.read<uint8_t>());
      if (item == 'S') common->is_signal_frame = true;
    }
    if (data.is_broken()) return false;
  }
  common->instructions = cursor.rest();
  return !cursor.is_broken();
}

// Runs call frame instructions up to an address.
class RowMachine {
 public:
  RowMachine(const CommonEntry& common, uint64_t location, uint64_t target)
      : common_(common), location_(location), target_(target) {}

  Row row;

  // Returns false for an unknown instruction. `initial` is the row after the common entry, for `restore`.
  bool run(std::string_view instructions, const Row& initial) {
    Cursor cursor(instructions);
    while (!cursor.at_end() && !passed_) {
      auto opcode = cursor.read<uint8_t>();
      if (!step(opcode, cursor, initial) || cursor.is_broken()) return false;
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
        set(low, {RegisterRule::kAtCfa, scaled(cursor.unsigned_leb())});
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
        set(number, {RegisterRule::kAtCfa, scaled(cursor.unsigned_leb())});
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
        row.cfa_expression = {};
        return true;
      case 0x0D:  // def_cfa_register
        row.cfa_register = cursor.unsigned_leb();
        row.cfa_expression = {};
        return true;
      case 0x0E:  // def_cfa_offset
        row.cfa_offset = static_cast<int64_t>(cursor.unsigned_leb());
        return true;
      case 0x0F:  // def_cfa_expression
        row.cfa_expression = cursor.take(cursor.unsigned_leb());
        return !row.cfa_expression.empty();
      case 0x10:    // expression
      case 0x16: {  // val_expression
        uint64_t number = cursor.unsigned_leb();
        cursor.take(cursor.unsigned_leb());
        set(number, {RegisterRule::kOther, 0});
        return true;
      }
      case 0x11: {  // offset_extended_sf
        uint64_t number = cursor.unsigned_leb();
        set(number, {RegisterRule::kAtCfa, scaled(static_cast<uint64_t>(cursor.signed_leb()))});
        return true;
      }
      case 0x12:  // def_cfa_sf
        row.cfa_register = cursor.unsigned_leb();
        row.cfa_offset = scaled(static_cast<uint64_t>(cursor.signed_leb()));
        row.cfa_expression = {};
        return true;
      case 0x13:  // def_cfa_offset_sf
        row.cfa_offset = scaled(static_cast<uint64_t>(cursor.signed_leb()));
        return true;
      case 0x15: {  // val_offset_sf
        uint64_t number = cursor.unsigned_leb();
        cursor.signed_leb();
        set(number, {RegisterRule::kOther, 0});
        return true;
      }
      case 0x2D:  // AARCH64_negate_ra_state: whether the return address is signed
        return true;
      case 0x2E:  // GNU_args_size
        cursor.unsigned_leb();
        return true;
      default:
        return false;
    }
  }

  // Factors from damaged data may be of any size: overflow wraps around.
  int64_t scaled(uint64_t factor) const {
    return static_cast<int64_t>(factor * static_cast<uint64_t>(common_.data_alignment));
  }
  void advance(uint64_t units) {
    location_ += units * common_.code_alignment;
    passed_ = location_ > target_;
  }
  RegisterRule* slot(Row& of, uint64_t number) {
    return number == kDwarfFramePointer ? &of.fp : number == kDwarfReturnAddress ? &of.return_address : nullptr;
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

// Matches GCC's prologue for a realigned stack: the CFA is the word at fp plus an offset. Returns false for other
// expressions.
bool is_word_at_fp(std::string_view expression, int64_t* offset) {
  Cursor cursor(expression);
  if (cursor.read<uint8_t>() != kOpBregFp) return false;
  *offset = cursor.signed_leb();
  return cursor.read<uint8_t>() == kOpDeref && cursor.at_end() && !cursor.is_broken();
}

// Returns an entry without its leading length.
std::string_view body_of_entry(const char* entry) {
  uint32_t length;
  std::memcpy(&length, entry, sizeof(length));
  return {entry + sizeof(length), length};
}

FrameRule rule_of_row(const Row& row) {
  if (row.return_address.kind == RegisterRule::kUndefined) return FrameRule::end();
  int64_t cfa_offset = row.cfa_offset;
  bool is_indirect = !row.cfa_expression.empty();
  if (is_indirect && !is_word_at_fp(row.cfa_expression, &cfa_offset)) return FrameRule::exotic();
  if (!is_indirect && row.cfa_register != kDwarfFramePointer && row.cfa_register != kDwarfStackPointer)
    return FrameRule::exotic();
  bool saves_fp = row.fp.kind == RegisterRule::kAtCfa;
  if (!saves_fp && row.fp.kind != RegisterRule::kSame) return FrameRule::exotic();
  if (row.return_address.kind != RegisterRule::kAtCfa || row.return_address.offset >= 0) return FrameRule::exotic();
  int64_t saved_fp_offset = saves_fp ? row.fp.offset : row.return_address.offset - 8;
  if (row.return_address.offset != architecture::return_address_offset(saved_fp_offset)) return FrameRule::exotic();
  if (!FrameRule::fits(cfa_offset) || !FrameRule::fits(saved_fp_offset)) return FrameRule::exotic();
  return FrameRule::standard(is_indirect || row.cfa_register == kDwarfFramePointer, is_indirect, cfa_offset, saves_fp,
                             saved_fp_offset);
}

}  // namespace

FrameRule FrameRule::standard(bool cfa_from_fp, bool cfa_is_indirect, int64_t cfa_offset, bool saves_fp,
                              int64_t saved_fp_offset) {
  uint64_t bits =
      (static_cast<uint64_t>(cfa_offset) & 0xFFFFFF) << 8 | (static_cast<uint64_t>(saved_fp_offset) & 0xFFFFFF) << 32;
  if (cfa_from_fp) bits |= kCfaFromFp;
  if (cfa_is_indirect) bits |= kCfaIndirect;
  if (saves_fp) bits |= kSavesFp;
  bool has_frame_pointer = cfa_from_fp && !cfa_is_indirect && saves_fp && cfa_offset == 16 && saved_fp_offset == -16;
  if (has_frame_pointer) bits |= kFramePointer;
  return FrameRule(bits);
}

FrameRule rule_of_entry(const UnwindEntry& entry, uintptr_t begin, uintptr_t target) {
  CommonEntry common;
  if (!read_common_entry(entry.common, &common) || common.is_signal_frame) return FrameRule::exotic();
  Cursor cursor(entry.function);
  cursor.take(4);                                                  // distance back to the common entry
  cursor.take(2 * Cursor::encoded_size(common.pointer_encoding));  // start and size of the function
  if (common.has_augmentation) cursor.take(cursor.unsigned_leb());
  if (cursor.is_broken()) return FrameRule::exotic();

  RowMachine initial(common, begin, UINT64_MAX);
  if (!initial.run(common.instructions, Row{})) return FrameRule::exotic();
  RowMachine machine(common, begin, target);
  machine.row = initial.row;
  if (!machine.run(cursor.rest(), initial.row)) return FrameRule::exotic();
  return rule_of_row(machine.row);
}

FrameRule compute_rule(uintptr_t return_address, uintptr_t evaluator) {
  UnwindBases bases{};
  // The call is at the byte before: a call that never returns may be the last instruction of its function.
  uintptr_t target = return_address - 1;
  auto* found = static_cast<const char*>(_Unwind_Find_FDE(reinterpret_cast<void*>(target), &bases));
  if (found == nullptr) {
    return architecture::is_signal_return(return_address, copy_readable) ? FrameRule::exotic() : FrameRule::unknown();
  }
  UnwindEntry entry;
  entry.function = body_of_entry(found);
  int32_t back;
  if (entry.function.size() < sizeof(back)) return FrameRule::exotic();
  std::memcpy(&back, entry.function.data(), sizeof(back));
  entry.common = body_of_entry(entry.function.data() - back);
  auto begin = reinterpret_cast<uintptr_t>(bases.function);
  FrameRule rule = rule_of_entry(entry, begin, target);
  return evaluator != 0 && begin == evaluator ? rule.with_evaluator_mark() : rule;
}

}  // namespace framedex::recorder
