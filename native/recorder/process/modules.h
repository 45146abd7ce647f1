// Maps addresses to loaded binaries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "recorder/base/export.h"

namespace framedex::recorder {

struct ModuleInfo {
  std::string path;      // resolved; without a file (vdso) the loader's name
  std::string build_id;  // raw bytes of the GNU build-id note; empty without one
  uint64_t base = 0;     // load address; address - base is the ELF virtual address
  uint64_t size = 0;     // from base to the end of the last loaded segment
};

// Finds the module of an address. Returns false for code outside every module (JIT). Takes the loader's lock, so it is
// not for the path of a repeated stack.
bool find_module(uintptr_t address, ModuleInfo* module);

// Returns the raw bytes of the GNU build-id in ELF notes; empty if there is none or it is truncated.
std::string build_id_in(std::string_view notes);

// The numbers of objects loaded and unloaded so far. After an unload, known addresses may be stale.
struct LoaderChanges {
  uint64_t loads = 0;
  uint64_t unloads = 0;
  bool operator==(const LoaderChanges& other) const { return loads == other.loads && unloads == other.unloads; }
};
FRAMEDEX_EXPORT LoaderChanges loader_changes();

// Distinguishes a file from a later one at the same path.
struct FileMark {
  uint64_t size = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  // A text: size and a hash over blocks spread evenly through the file (docs/reference/capture-format.md).
  std::string fingerprint;
};

// Returns zeros and an empty fingerprint if the file cannot be read.
FileMark mark_file(const std::string& path);
FRAMEDEX_EXPORT std::string fingerprint(const std::string& path);

}  // namespace framedex::recorder
