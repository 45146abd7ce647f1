// The loaded objects, and the slots of their global offset tables.
#pragma once

#include <elf.h>
#include <link.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framedex::boundary {

// An object in the loader's list. Another thread may still be loading it.
struct ListedObject {
  uintptr_t base;
  std::string path;  // empty for the executable
  const ElfW(Phdr) * parts;
  size_t part_count;
};

// Returns the objects of this process, in load order, without the loader, libgcc_s and the files in framedex's own
// folder.
std::vector<ListedObject> list_objects();

struct Slot {
  const char* symbol;
  const char* version;  // the symbol version of a lazy slot; empty if it has none
  const void** address;
  const void* value;
  // Whether the value still points into the object itself: the loader has not looked up the symbol yet.
  bool is_lazy;
};

// A completely loaded object. It stays loaded during the lifetime of this instance.
class Object {
 public:
  // Waits for the loader. Returns nothing if the object has been unloaded.
  static std::optional<Object> open(const ListedObject& listed);

  void* handle() const { return handle_.get(); }
  uintptr_t base() const { return listed_.base; }
  // Calls `visit` for each slot that may hold a function's address.
  void each_slot(const std::function<void(const Slot&)>& visit) const;
  // Stores a function in a slot, unless another thread has changed the slot. Call on one thread at a time.
  void store(const Slot& slot, const void* value) const;

 private:
  struct Dynamic;
  using Handle = std::unique_ptr<void, int (*)(void*)>;

  Object(const ListedObject& listed, Handle handle) : listed_(listed), handle_(std::move(handle)) {}
  void each_slot(const Dynamic& dynamic, const ElfW(Rela) * first, size_t count,
                 const std::function<void(const Slot&)>& visit) const;
  bool has_code_at(const void* address) const;
  bool protects(const void* address) const;

  ListedObject listed_;
  Handle handle_;
};

}  // namespace framedex::boundary
