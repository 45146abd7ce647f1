// Which binary an address belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "recorder/base/export.h"

namespace framedex::recorder {

struct ModuleInfo {
  std::string path;      // resolved; the name the loader gives where there is no file (vdso)
  std::string build_id;  // raw bytes of the GNU build-id note, empty without one
  uint64_t base = 0;     // load address: what is subtracted from an address to get the ELF virtual address
  uint64_t size = 0;     // from base to the end of the last loaded segment
};

// Finds the module of an address. False for code outside every module (JIT). Takes the loader's lock: not for the path
// of a repeated stack.
bool find_module(uintptr_t address, ModuleInfo* module);

// The GNU build-id among ELF notes, raw bytes; empty where there is none, or what there is ends within itself.
std::string build_id_in(std::string_view notes);

// How many objects have been unloaded so far: when it changes, addresses may mean something else.
uint64_t unload_count();

// What tells a file from another one that is later at its path.
struct FileMark {
  uint64_t size = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  // Its size and a hash over blocks spread evenly through it, as text (docs/reference/capture-format.md).
  std::string fingerprint;
};

// All zeros and empty if the file cannot be read.
FileMark mark_file(const std::string& path);
FRAMEDEX_EXPORT std::string fingerprint(const std::string& path);

}  // namespace framedex::recorder
