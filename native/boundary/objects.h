// The loaded objects, and the slots of their global offset tables.
#pragma once

#include <elf.h>
#include <link.h>

#include <functional>
#include <string>
#include <vector>

namespace framedex::boundary {

struct Object {
  uintptr_t base;
  std::string path;
};

// Counts the loads and unloads of this process: equal numbers mean equal objects.
struct Changes {
  unsigned long long loads = 0;
  unsigned long long unloads = 0;
  bool operator==(const Changes& other) const { return loads == other.loads && unloads == other.unloads; }
};
Changes changes();

// Returns the objects of this process, in load order, without the loader and the files in framedex's own folder.
std::vector<Object> loaded_objects();

// A slot of an object: the name of its symbol, and where its value is stored.
struct SlotView {
  const char* symbol;
  const void** value;
  // Whether the value leads back into the object, because the loader has not looked up the symbol yet.
  bool is_lazy;
};
// Calls `patch` with the slots for functions of every object whose base `is_wanted` accepts. It returns the new value,
// or nullptr. The objects stay loaded meanwhile. Neither function may call the loader.
void patch_slots(const std::function<bool(uintptr_t base)>& is_wanted,
                 const std::function<const void*(const SlotView&)>& patch);

}  // namespace framedex::boundary
