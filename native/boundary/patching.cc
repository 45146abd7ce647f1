#include "boundary/patching.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "boundary/objects.h"
#include "boundary/trampolines.h"
#include "recorder/base/errno_scope.h"
#include "recorder/base/inside.h"
#include "recorder/process/modules.h"

namespace framedex::boundary {
namespace {

using Dlsym = void* (*)(void*, const char*);

// Set once by install(), before the first patch. Never destroyed: calls come after static destructors.
const std::vector<Boundary*>* boundaries = nullptr;
Dlsym real_dlsym = nullptr;
pid_t installed_in = 0;

// The mutex protects these fields and the patched slots. It is never held during a loader call that waits for loads.
struct Patches {
  std::mutex mutex;
  recorder::LoaderChanges seen;
  std::set<uintptr_t> patched;  // base addresses of the patched objects
  uint64_t renewals = 0;        // how often all objects had to be patched again
};
Patches* patches = nullptr;

const void* target_trampoline(const Boundary* boundary) {
  return trampoline(
      static_cast<size_t>(std::find(boundaries->begin(), boundaries->end(), boundary) - boundaries->begin()));
}

// Looks up a symbol. An empty version matches any.
const void* look_up(void* handle, const char* name, const char* version) {
  return *version == '\0' ? real_dlsym(handle, name) : dlvsym(handle, name, version);
}

// Whether the address that the loader returned for a function is only a stub, which jumps through a slot. An executable
// that is not position-independent may have stubs.
bool is_stub(const void* function) {
  Dl_info info;
  ElfW(Sym)* symbol = nullptr;
  bool is_known = dladdr1(function, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) != 0;
  return is_known && symbol != nullptr && symbol->st_shndx == SHN_UNDEF;
}

// Returns the first definition in the global scope, nullptr if there is none.
const void* find_global(const char* name, const char* version, const std::vector<ListedObject>& objects) {
  const void* found = look_up(RTLD_DEFAULT, name, version);
  if (found == nullptr || !is_stub(found)) return found;
  for (const ListedObject& listed : objects) {
    std::optional<Object> object = listed.path.empty() ? std::nullopt : Object::open(listed);
    const void* definition = object ? look_up(object->handle(), name, version) : nullptr;
    if (definition != nullptr) return definition;
  }
  return nullptr;
}

// Returns the boundary's function in the first object that has it and matches the boundary; nullptr if none does.
const void* find_target(const Boundary& boundary, const std::vector<ListedObject>& objects) {
  // Keep the known function while its library is loaded: its callers already jump to the trampoline.
  const void* known = boundary.target;
  Dl_info of_known;
  if (known != nullptr && dladdr(known, &of_known) != 0 && boundary.is_in(of_known.dli_fname)) return known;
  if (boundary.library.empty()) {
    if (const void* found = find_global(boundary.name.c_str(), "", objects)) return found;
  }
  for (const ListedObject& listed : objects) {
    if (listed.path.empty() || !boundary.is_in(listed.path.c_str())) continue;
    std::optional<Object> object = Object::open(listed);
    const void* found = object ? look_up(object->handle(), boundary.name.c_str(), "") : nullptr;
    Dl_info info;  // dlsym also searches the object's dependencies
    bool is_own = found != nullptr && dladdr(found, &info) != 0 && boundary.is_in(info.dli_fname);
    if (is_own) return found;
  }
  return nullptr;
}

// Sets the boundary's function, and returns whether it is a new one.
bool set_target(Boundary& boundary, const void* target) {
  if (target == nullptr || target == boundary.target) return false;
  if (boundary.target == nullptr) {
    recorder::Function function{"library", boundary.name.c_str(), boundary.value_names.data(),
                                boundary.value_names.size(), target};
    try {
      boundary.function = recorder::register_functions(&function, 1);
    } catch (const std::length_error&) {  // too many functions
      return false;
    }
  }
  boundary.target = target;
  return true;
}

// Returns the trampoline to store in a slot; nullptr to leave the slot unchanged.
const void* trampoline_for(const Slot& slot, const std::vector<ListedObject>& objects) {
  if (std::strcmp(slot.symbol, "dlsym") == 0) {
    return slot.value == reinterpret_cast<const void*>(real_dlsym) || slot.is_lazy ? trampoline(kMaximumBoundaries)
                                                                                   : nullptr;
  }
  for (const Boundary* boundary : *boundaries) {
    const void* target = boundary->target;
    if (target == nullptr || boundary->name != slot.symbol) continue;
    bool is_target = slot.is_lazy ? find_global(slot.symbol, slot.version, objects) == target : slot.value == target;
    if (is_target) return target_trampoline(boundary);
  }
  return nullptr;
}

struct Patch {
  const Object& object;
  Slot slot;
  const void* value;
};

std::vector<Patch> patches_of(const std::vector<Object>& loaded, const std::vector<ListedObject>& objects) {
  std::vector<Patch> found;
  for (const Object& object : loaded) {
    object.each_slot([&](const Slot& slot) {
      if (const void* value = trampoline_for(slot, objects)) found.push_back({object, slot, value});
    });
  }
  return found;
}

struct ObjectsToPatch {
  std::vector<ListedObject> objects;
  uint64_t renewals;
};

// Finds the boundaries' functions. Returns the objects to patch.
ObjectsToPatch update_targets(const recorder::LoaderChanges& now, const std::vector<ListedObject>& objects) {
  std::vector<const void*> targets;
  for (const Boundary* boundary : *boundaries) targets.push_back(find_target(*boundary, objects));
  std::lock_guard lock(patches->mutex);
  bool is_new = false;
  for (size_t i = 0; i < targets.size(); ++i) is_new |= set_target(*(*boundaries)[i], targets[i]);
  if (is_new || now.unloads != patches->seen.unloads) {
    patches->patched.clear();
    ++patches->renewals;
  }
  ObjectsToPatch to_patch{{}, patches->renewals};
  for (const ListedObject& each : objects) {
    if (patches->patched.count(each.base) == 0) to_patch.objects.push_back(each);
  }
  return to_patch;
}

// Patches the objects that were loaded since the last time.
void patch_new_objects() {
  recorder::LoaderChanges now = recorder::loader_changes();
  {
    std::lock_guard lock(patches->mutex);
    if (now == patches->seen) return;
  }
  std::vector<ListedObject> objects = list_objects();
  ObjectsToPatch to_patch = update_targets(now, objects);
  std::vector<Object> loaded;
  for (const ListedObject& each : to_patch.objects) {
    if (std::optional<Object> object = Object::open(each)) loaded.push_back(std::move(*object));
  }
  std::vector<Patch> found = patches_of(loaded, objects);
  dlerror();  // discard the error of our own look-ups
  std::lock_guard lock(patches->mutex);
  for (const Patch& each : found) each.object.store(each.slot, each.value);
  if (to_patch.renewals != patches->renewals)
    return;  // another thread patches all objects again, but may have missed these
  for (const Object& each : loaded) patches->patched.insert(each.base());
  patches->seen = now;
}

// Returns the address that dlsym must return; nullptr to let the real dlsym answer.
void* answer_dlsym(void* library, const char* name) {
  if (recorder::is_inside) return nullptr;
  recorder::InsideScope inside;
  patch_new_objects();
  bool depends_on_caller = library == RTLD_NEXT || library == RTLD_DEFAULT;
  for (const Boundary* boundary : *boundaries) {
    if (depends_on_caller || boundary->name != name) continue;
    const void* found = real_dlsym(library, name);
    if (found != nullptr && found == boundary->target) return const_cast<void*>(target_trampoline(boundary));
  }
  return nullptr;
}

void report_missing() {
  if (getpid() != installed_in) return;  // a forked child
  for (const Boundary* boundary : *boundaries) {
    if (boundary->target != nullptr) continue;
    const std::string& library = boundary->library;
    std::fprintf(stderr, "framedex: --boundary: no loaded library%s%s has the function %s.\n",
                 library.empty() ? "" : " ", library.c_str(), boundary->name.c_str());
  }
}

}  // namespace

extern "C" const void* framedex_boundary_enter(Registers* registers) noexcept {
  recorder::ErrnoScope errno_scope;
  if (registers->boundary == kMaximumBoundaries) {
    auto* library = reinterpret_cast<void*>(registers->integers[0]);
    void* answer = answer_dlsym(library, reinterpret_cast<const char*>(registers->integers[1]));
    if (answer == nullptr) return reinterpret_cast<const void*>(real_dlsym);
    registers->answer = reinterpret_cast<uint64_t>(answer);
    return framedex_boundary_return;
  }
  const Boundary& boundary = *(*boundaries)[registers->boundary];
  recorder::Call call(boundary.function);
  if (call.is_recording()) {
    write_arguments(call.arguments(), boundary, *registers);
    auto stack = reinterpret_cast<uintptr_t>(registers->stack);
    call.enter_from({architecture::strip_return_address(registers->return_address), stack, registers->fp});
    if (call.is_recording()) call.leave(0, {});
  }
  return boundary.target;
}

void install(std::vector<Boundary*> requested, bool reports_missing) {
  recorder::InsideScope inside;
  boundaries = new std::vector<Boundary*>(std::move(requested));
  patches = new Patches;
  installed_in = getpid();
  // Another thread may be patching during a fork, so the child starts with an empty state and patches again.
  pthread_atfork(nullptr, nullptr, [] { new (patches) Patches; });
  real_dlsym = dlsym;
  const void* definition = find_global("dlsym", "", list_objects());
  if (definition == nullptr) return;
  real_dlsym = reinterpret_cast<Dlsym>(const_cast<void*>(definition));
  patch_new_objects();
  if (reports_missing) std::atexit(report_missing);
}

}  // namespace framedex::boundary
