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

// An object in the loader's list, where another thread may still be loading it.
struct ListedObject {
  uintptr_t base;
  std::string path;  // empty for the executable
  const ElfW(Phdr) * parts;
  size_t part_count;
};

// Returns the objects of this process, in load order, without the loader, libgcc_s and the files in framedex's own
// folder.
std::vector<ListedObject> listed_objects();

struct Slot {
  const char* symbol;
  const char* version;  // of a lazy slot's symbol; empty if it has none
  const void** place;
  const void* value;
  // Whether the value leads back into the object, because the loader has not looked up the symbol yet.
  bool is_lazy;
};

// An object that is completely loaded, and stays so while this exists.
class Object {
 public:
  // Waits for the loader. Returns nothing if the object is not loaded any more.
  static std::optional<Object> of(const ListedObject& listed);

  void* handle() const { return handle_.get(); }
  uintptr_t base() const { return listed_.base; }
  // Calls `visit` with each slot for a function.
  void each_slot(const std::function<void(const Slot&)>& visit) const;
  // Stores a function in a slot, unless another thread has changed it. One thread at a time may do so.
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
