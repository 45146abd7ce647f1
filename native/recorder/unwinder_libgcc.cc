// The unwinder behind unwinder.h that asks libgcc: right wherever C++ exceptions work, some 5 us for 40 frames.
#include <unwind.h>

#include "recorder/unwinder.h"

namespace framedex::recorder {
namespace {

struct Walk {
  uintptr_t innermost;
  NativeFrame* frames;
  size_t capacity;
  size_t count;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  // In a callback of _Unwind_Backtrace, the "CFA" of the context is still that of the next inner frame: the stack
  // pointer of the frame visited.
  auto sp = static_cast<uintptr_t>(_Unwind_GetCFA(context));
  if (walk.count > 0) walk.frames[walk.count - 1].end = sp;
  if (sp < walk.innermost) return _URC_NO_REASON;
  if (walk.count == walk.capacity) return _URC_END_OF_STACK;
  int before_instruction = 0;
  uintptr_t pc = _Unwind_GetIPInfo(context, &before_instruction);
  if (pc == 0) return _URC_END_OF_STACK;
  uintptr_t function = _Unwind_GetRegionStart(context);
  walk.frames[walk.count++] = {pc + (before_instruction ? 1 : 0), sp, UINTPTR_MAX, function};
  return _URC_NO_REASON;
}

}  // namespace

size_t unwind(uintptr_t innermost, NativeFrame* frames, size_t capacity) {
  Walk walk{innermost, frames, capacity, 0};
  _Unwind_Backtrace(visit, &walk);
  // libgcc ends with a frame it has no unwind entry for.
  if (walk.count > 0 && walk.count < capacity && frames[walk.count - 1].function == 0) --walk.count;
  return walk.count;
}

}  // namespace framedex::recorder
