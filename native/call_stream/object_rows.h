// The output rows of object lifetimes.
#pragma once

#include <cstdint>
#include <vector>

#include "call_stream/object_table.h"

namespace framedex::call_stream {

// The ways to misuse an object, as in framedex.programs.objects.ViolationKind.
enum class ViolationKind : uint8_t {
  kUseAfterDestroy,
  kDoubleDestroy,
  kUnknownDestroy,
  kForeignDestroy,
  kUseAfterDelete,
  kDestroyedInUse,
  kUseAfterClient,
};

// Columns of equal length, described in framedex.model.ObjectColumns. Objects (`object`, `owner`) are numbered by
// birth, from 0; calls are rows of the capture. kNone means absent.
struct ObjectRows {
  std::vector<uint64_t> object;
  std::vector<ObjectType> type;
  std::vector<int64_t> number;
  std::vector<uint64_t> address;
  std::vector<int64_t> born;
  std::vector<int64_t> created_call;
  std::vector<uint32_t> created_kind;  // of the creating call
  std::vector<uint64_t> first_call;
  std::vector<uint64_t> last_call;
  std::vector<uint64_t> uses;
  std::vector<int64_t> destroyed_call;
  std::vector<int64_t> deleted_call;
  std::vector<int64_t> owner;
  std::vector<int64_t> size;
  std::vector<uint8_t> is_foreign;
};

struct ViolationRows {
  std::vector<ViolationKind> kind;
  std::vector<uint64_t> object;
  std::vector<uint64_t> call;
  std::vector<int64_t> earlier_call;
};

// Objects whose number differs from the one returned before.
struct NumberRows {
  std::vector<uint64_t> object;
  std::vector<int64_t> number;
};

}  // namespace framedex::call_stream
