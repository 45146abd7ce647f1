// Helpers of the generated wrappers in the traced PJRT table: decoding arguments, ending a call.
#pragma once

#include <cstring>

#include "abi/struct_size.h"
#include "pjrt/boundaries.h"
#include "pjrt/element_size.h"
#include "pjrt/slots.h"
#include "pjrt_c_api.h"
#include "pjrt_enumerators.h"
#include "recorder/recorder.h"

namespace framedex::pjrt {

inline size_t text_length(const char* text) { return text == nullptr ? 0 : std::strlen(text); }

// Writes an enumerator's name, or its number if it is newer than our ABI description.
template <typename Enum>
void enumeration(recorder::ArgumentWriter& writer, uint16_t field, Enum value) {
  const char* name = enumerator(value);
  if (name != nullptr) {
    writer.text(field, name);
  } else {
    writer.integer(field, static_cast<int64_t>(value));
  }
}

// Writes a list of named values as one text, `name=value, name=[1,2]`.
void named_values(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_NamedValue* values, size_t count);

// Writes a list of texts as one, separated by commas.
void texts(recorder::ArgumentWriter& writer, uint16_t field, const char* const* values, const size_t* sizes,
           size_t count);
// Writes element types and shapes as one text, `F32[4,8] S32[]`; not if there are too many.
void shape_texts(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_ShapeSpec* shapes, size_t count);
// Keeps the code of a program to be compiled, and writes its file name in the capture.
void program_kept(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Program* program);
// Keeps JAX's note about a program, which may be nullptr.
void note_kept(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Program* program);
// Returns the total number of elements of all lists.
size_t total(const size_t* sizes, size_t count);

// Records when the plug-in invokes the callback of a recorded call. During the lifetime of this object, the arguments
// contain framedex's callback.
class TracedCallback {
 public:
  TracedCallback(recorder::Call& call, PJRT_Event_OnReady_Args* args, const PJRT_Api* plugin);
  ~TracedCallback();
  TracedCallback(const TracedCallback&) = delete;
  TracedCallback& operator=(const TracedCallback&) = delete;
  // Records whether the plug-in accepted the callback.
  void end(const PJRT_Error* error) { is_refused_ = error != nullptr; }

 private:
  PJRT_Event_OnReady_Args* args_;
  PJRT_Event_OnReadyCallback callback_;
  void* user_;
  bool is_refused_ = false;
  size_t slot_ = recorder::kMaximumCallbacks;
};

// Ends a call with the code and message of `error` (nullptr: success), read through the plug-in that created it. The
// field `object` of a failed call is the error's address.
void leave(recorder::Call& call, const PJRT_Api* plugin, PJRT_Error* error, uint16_t object);
void leave(recorder::Call& call, const PLUGIN_Profiler_Api* plugin, PLUGIN_Profiler_Error* error, uint16_t object);
// Ends a call that a C++ exception leaves. Call in the handler of the exception; `field` gets its description.
void leave_by_exception(recorder::Call& call, uint16_t field);
// Writes the names of output fields that the plug-in did not assign: those with a bit in `unfilled`.
void unfilled_names(recorder::ArgumentWriter& writer, uint16_t field, const char* const* names, uint64_t unfilled);
// Destroys the error of one of framedex's own calls. Returns whether there was an error.
bool discard(PJRT_Error* error, const PJRT_Api* plugin);

// Each returns a table that records every call and forwards it to `plugin`, with traced extensions. Generated; each is
// for one plug-in of the process.
namespace plugin_0 {
const PJRT_Api* trace(const PJRT_Api* plugin);
}
namespace plugin_1 {
const PJRT_Api* trace(const PJRT_Api* plugin);
}

}  // namespace framedex::pjrt
