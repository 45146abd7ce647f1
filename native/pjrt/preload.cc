// libframedex_preload.so, for LD_PRELOAD: records the PJRT plug-in that a program loads from any location.
//
// Every framework gets a plug-in's table with dlsym(library, "GetPjrtApi"). For that name, this library's dlsym returns
// a function that returns the traced table. For any other name it jumps to the real dlsym. A jump keeps the caller's
// return address, which RTLD_NEXT and RTLD_DEFAULT depend on. The tracing is in libtpu.so beside this library, which is
// loaded only when a plug-in is.
//
// Every program that inherits LD_PRELOAD loads this library, so it needs only the C library.
#include <dlfcn.h>
#include <pthread.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "architecture/architecture.h"
#include "pjrt_c_api.h"

namespace {

using GetTable = const PJRT_Api* (*)();
using Interpose = const PJRT_Api* (*)(const PJRT_Api*, const char*);

// The recorded plug-in: the first one that FRAMEDEX_PLUGIN allows. Set once, under the mutex.
struct {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  GetTable get_table = nullptr;
  char path[PATH_MAX] = {};
} plugin;

// Finds the file that contains the code or data at an address; empty if there is none.
void find_file(const void* address, char (&path)[PATH_MAX]) {
  Dl_info info;
  path[0] = 0;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
  if (realpath(info.dli_fname, path) == nullptr) std::snprintf(path, sizeof(path), "%s", info.dli_fname);
}

bool is_wanted(const char* path) {
  const char* named = std::getenv("FRAMEDEX_PLUGIN");
  if (named == nullptr || *named == 0) return true;
  char wanted[PATH_MAX];
  return realpath(named, wanted) != nullptr && std::strcmp(path, wanted) == 0;
}

void* load_tracer() {
  char path[PATH_MAX];
  find_file(&plugin, path);
  char* name = std::strrchr(path, '/');
  if (name == nullptr || name + sizeof("/libtpu.so") > path + sizeof(path)) return nullptr;
  std::strcpy(name, "/libtpu.so");
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Replaces the plug-in's GetPjrtApi.
const PJRT_Api* traced_table() {
  const PJRT_Api* table = plugin.get_table();
  void* tracer = load_tracer();
  auto interpose = tracer == nullptr ? nullptr : reinterpret_cast<Interpose>(dlsym(tracer, "framedex_interpose"));
  if (interpose != nullptr) return interpose(table, plugin.path);
  std::fprintf(stderr, "framedex: nothing is recorded: %s\n", dlerror());
  return table;
}

// Returns whether to record this plug-in: only the first allowed one is recorded.
bool take(GetTable get_table) {
  char path[PATH_MAX];
  find_file(reinterpret_cast<const void*>(get_table), path);
  if (!is_wanted(path)) return false;
  pthread_mutex_lock(&plugin.mutex);
  if (plugin.get_table == nullptr) {
    std::strcpy(plugin.path, path);
    plugin.get_table = get_table;
  }
  bool is_taken = std::strcmp(plugin.path, path) == 0;
  pthread_mutex_unlock(&plugin.mutex);
  if (!is_taken) {
    std::fprintf(stderr,
                 "framedex: %s is not recorded: only one plug-in per process is, here %s. Choose it with "
                 "FRAMEDEX_PLUGIN.\n",
                 path, plugin.path);
  }
  return is_taken;
}

}  // namespace

extern "C" {

using Dlsym = void* (*)(void*, const char*);
__attribute__((visibility("hidden"))) Dlsym framedex_real_dlsym = nullptr;

// Returns the address for dlsym to return, nullptr to call the real dlsym.
__attribute__((visibility("hidden"))) void* framedex_answer(void* library, const char* name) {
  if (framedex_real_dlsym == nullptr) {
    void* real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (real == nullptr) real = dlvsym(RTLD_NEXT, "dlsym", framedex::architecture::kOldestGlibc);
    framedex_real_dlsym = reinterpret_cast<Dlsym>(real);
  }
  if (std::strcmp(name, "GetPjrtApi") != 0 || library == RTLD_NEXT || library == RTLD_DEFAULT) return nullptr;
  auto get_table = reinterpret_cast<GetTable>(framedex_real_dlsym(library, name));
  // A framedex library records itself.
  if (get_table == nullptr || framedex_real_dlsym(library, "framedex_mock_pjrt_api") != nullptr) return nullptr;
  dlerror();  // callers may check it to see whether the name was found
  return take(get_table) ? reinterpret_cast<void*>(&traced_table) : nullptr;
}
}
