// What the generated wrappers of the traced PJRT table need: decoding helpers, the end of a call.
#pragma once

#include <cstdlib>
#include <cstring>

#include "abi/struct_size.h"
#include "pjrt/element_size.h"
#include "pjrt_c_api.h"
#include "pjrt_enumerators.h"
#include "recorder/recorder.h"

namespace framedex::pjrt {

inline size_t text_length(const char* text) { return text == nullptr ? 0 : std::strlen(text); }

// Writes an enumerator's name, or its number where it is newer than the description of the ABI.
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

// Writes a list of texts as one, with commas between.
void texts(recorder::ArgumentWriter& writer, uint16_t field, const char* const* values, const size_t* sizes,
           size_t count);
// Keeps the code of a program that is to be compiled, and writes its name in the capture.
void program_kept(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Program* program);
// The number of elements of all lists together.
size_t total(const size_t* sizes, size_t count);

// Ends a call with the code and message of `error` (nullptr: success), asked of the plug-in that made it.
void leave(recorder::Call& call, const PJRT_Api* plugin, PJRT_Error* error);
void leave(recorder::Call& call, const PLUGIN_Profiler_Api* plugin, PLUGIN_Profiler_Error* error);
// Destroys an error of a call that nobody but framedex made. Returns whether there was one.
bool discard(PJRT_Error* error, const PJRT_Api* plugin);

// A copy of a table of functions of which the plug-in has `size` bytes: what it lacks is null in the copy, what it has
// beyond the table that is known here is in the copy as well. Lives as long as the process.
template <typename Table>
Table* copy_of(const Table* table, size_t size) {
  void* copy = std::calloc(1, size > sizeof(Table) ? size : sizeof(Table));
  std::memcpy(copy, table, size);
  return static_cast<Table*>(copy);
}

// A table that records every call and forwards it to `plugin`, and so do its extensions. Once for each loaded library.
const PJRT_Api* trace(const PJRT_Api* plugin);

}  // namespace framedex::pjrt
