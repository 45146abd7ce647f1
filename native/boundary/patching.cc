#include "boundary/patching.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

#include "boundary/objects.h"
#include "boundary/trampolines.h"

namespace framedex::boundary {
namespace {

using Dlsym = void* (*)(void*, const char*);

// Set once by install(), before the first patch.
std::vector<Boundary*> boundaries;
Dlsym real_dlsym = nullptr;

// The mutex is taken for patches only, never around a call of the loader that waits for loads.
struct Patches {
  std::mutex mutex;
  Changes seen;
  std::set<uintptr_t> patched;  // bases of objects
};
Patches* patches = nullptr;

const void* target_trampoline(const Boundary* boundary) {
  return trampoline(
      static_cast<size_t>(std::find(boundaries.begin(), boundaries.end(), boundary) - boundaries.begin()));
}

// Returns a function in the first object that has it and fits the boundary; nullptr if none does.
const void* find_target(const Boundary& boundary, const std::vector<Object>& objects) {
  if (boundary.library.empty()) {
    if (const void* found = real_dlsym(RTLD_DEFAULT, boundary.name.c_str())) return found;
  }
  for (const Object& object : objects) {
    if (object.path.empty() || !boundary.is_in(object.path.c_str())) continue;
    void* handle = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    const void* found = real_dlsym(handle, boundary.name.c_str());
    dlclose(handle);
    Dl_info info;  // dlsym also searches what the object needs
    bool is_own = found != nullptr && dladdr(found, &info) != 0 && boundary.is_in(info.dli_fname);
    if (is_own) return found;
  }
  return nullptr;
}

class ErrnoScope {
 public:
  ErrnoScope() : saved_(errno) {}
  ~ErrnoScope() { errno = saved_; }

 private:
  int saved_;
};

struct Target {
  const void* function;  // nullptr if no loaded library has it
  bool is_global;
};

// Returns the boundaries' functions, in their order.
std::vector<Target> find_targets() {
  std::vector<Object> objects = loaded_objects();
  std::vector<Target> found;
  for (const Boundary* boundary : boundaries) {
    const void* function = find_target(*boundary, objects);
    found.push_back({function, function == real_dlsym(RTLD_DEFAULT, boundary->name.c_str())});
  }
  return found;
}

// Returns whether the boundary has a new function.
bool set_target(Boundary& boundary, const Target& target) {
  if (target.function == nullptr || target.function == boundary.target) return false;
  if (boundary.target == nullptr) {
    recorder::Function function{"library", boundary.name.c_str(), boundary.value_names.data(),
                                boundary.value_names.size(), target.function};
    try {
      boundary.function = recorder::register_functions(&function, 1);
    } catch (const std::length_error&) {  // too many functions
      return false;
    }
  }
  boundary.is_global = target.is_global;
  boundary.target = target.function;
  return true;
}

// Returns the trampoline for a slot, nullptr to leave it.
const void* patch(const SlotView& slot) {
  if (std::strcmp(slot.symbol, "dlsym") == 0) {
    return *slot.value == reinterpret_cast<const void*>(real_dlsym) || slot.is_lazy ? trampoline(kMaximumBoundaries)
                                                                                    : nullptr;
  }
  for (const Boundary* boundary : boundaries) {
    const void* target = boundary->target;
    if (target == nullptr || boundary->name != slot.symbol) continue;
    if (*slot.value == target || (slot.is_lazy && boundary->is_global)) return target_trampoline(boundary);
  }
  return nullptr;
}

// Patches the objects that were loaded since the last time.
void patch_new_objects() {
  Changes now = changes();
  {
    std::lock_guard lock(patches->mutex);
    if (now == patches->seen) return;
  }
  std::vector<Target> targets = find_targets();
  dlerror();  // none of the program's
  std::lock_guard lock(patches->mutex);
  bool is_new = false;
  for (size_t i = 0; i < targets.size(); ++i) is_new |= set_target(*boundaries[i], targets[i]);
  if (is_new || now.unloads != patches->seen.unloads) patches->patched.clear();
  patch_slots([](uintptr_t base) { return patches->patched.insert(base).second; }, patch);
  patches->seen = now;
}

// Returns the address that dlsym has to return, nullptr for the real function's own answer.
void* answer_dlsym(void* library, const char* name) {
  patch_new_objects();
  bool depends_on_caller = library == RTLD_NEXT || library == RTLD_DEFAULT;
  for (const Boundary* boundary : boundaries) {
    if (depends_on_caller || boundary->name != name) continue;
    const void* found = real_dlsym(library, name);
    if (found != nullptr && found == boundary->target) return const_cast<void*>(target_trampoline(boundary));
  }
  return nullptr;
}

void report_missing() {
  for (const Boundary* boundary : boundaries) {
    if (boundary->target != nullptr) continue;
    const std::string& library = boundary->library;
    std::fprintf(stderr, "framedex: --boundary: no loaded library%s%s has the function %s.\n",
                 library.empty() ? "" : " ", library.c_str(), boundary->name.c_str());
  }
}

}  // namespace

extern "C" const void* framedex_boundary_enter(Registers* registers) noexcept {
  if (registers->boundary == kMaximumBoundaries) {
    ErrnoScope errno_scope;
    auto* library = reinterpret_cast<void*>(registers->integers[0]);
    void* answer = answer_dlsym(library, reinterpret_cast<const char*>(registers->integers[1]));
    if (answer == nullptr) return reinterpret_cast<const void*>(real_dlsym);
    registers->rax = reinterpret_cast<uint64_t>(answer);
    return framedex_boundary_return;
  }
  const Boundary& boundary = *boundaries[registers->boundary];
  recorder::Call call(boundary.function);
  if (call.is_recording()) {
    write_arguments(call.arguments(), boundary, *registers);
    auto behind = reinterpret_cast<uintptr_t>(&registers->return_address + 1);
    call.enter_from({registers->return_address, behind, registers->rbp});
    if (call.is_recording()) call.leave(0, {});
  }
  return boundary.target;
}

void install(std::vector<Boundary*> named, bool reports_missing) {
  boundaries = std::move(named);
  patches = new Patches;
  pthread_atfork(nullptr, nullptr, [] { new (&patches->mutex) std::mutex; });
  real_dlsym = reinterpret_cast<Dlsym>(dlsym(RTLD_DEFAULT, "dlsym"));
  patch_new_objects();
  if (reports_missing) std::atexit(report_missing);
}

}  // namespace framedex::boundary
