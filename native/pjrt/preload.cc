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
#include "pjrt/boundaries.h"
#include "pjrt_c_api.h"

namespace {

using GetTable = const PJRT_Api* (*)();
using Interpose = const PJRT_Api* (*)(const PJRT_Api*, const char*);

// A recorded plug-in; it is set once, under the mutex.
struct Plugin {
  GetTable get_table = nullptr;
  char path[PATH_MAX] = {};
};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// The first plug-ins that FRAMEDEX_PLUGIN allows.
Plugin plugins[framedex::pjrt::kMaximumPlugins];

// Finds the file that contains the code or data at an address; empty if there is none.
void find_file(const void* address, char (&path)[PATH_MAX]) {
  Dl_info info;
  path[0] = 0;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
  if (realpath(info.dli_fname, path) == nullptr) std::snprintf(path, sizeof(path), "%s", info.dli_fname);
}

// Returns whether FRAMEDEX_PLUGIN has this path. It is one path, which may contain colons, or several that are
// separated by colons.
bool is_wanted(const char* path) {
  const char* named = std::getenv("FRAMEDEX_PLUGIN");
  if (named == nullptr || *named == 0) return true;
  char whole[PATH_MAX];
  if (realpath(named, whole) != nullptr && std::strcmp(path, whole) == 0) return true;
  for (const char* name = named; *name != 0;) {
    size_t size = std::strcspn(name, ":");
    char one[PATH_MAX];
    char wanted[PATH_MAX];
    std::snprintf(one, sizeof(one), "%.*s", static_cast<int>(size), name);
    if (realpath(one, wanted) != nullptr && std::strcmp(path, wanted) == 0) return true;
    name += size + (name[size] == ':' ? 1 : 0);
  }
  return false;
}

void* load_tracer() {
  char path[PATH_MAX];
  find_file(&plugins, path);
  char* name = std::strrchr(path, '/');
  if (name == nullptr || name + sizeof("/libtpu.so") > path + sizeof(path)) return nullptr;
  std::strcpy(name, "/libtpu.so");
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Replaces the plug-in's GetPjrtApi.
template <size_t kPlugin>
const PJRT_Api* traced_table() {
  const Plugin& plugin = plugins[kPlugin];
  const PJRT_Api* table = plugin.get_table();
  void* tracer = load_tracer();
  auto interpose = tracer == nullptr ? nullptr : reinterpret_cast<Interpose>(dlsym(tracer, "framedex_interpose"));
  if (interpose != nullptr) return interpose(table, plugin.path);
  std::fprintf(stderr, "framedex: nothing is recorded: %s\n", dlerror());
  return table;
}

constexpr GetTable kTracedTables[] = {&traced_table<0>, &traced_table<1>};
static_assert(std::size(kTracedTables) == framedex::pjrt::kMaximumPlugins);

// Returns the replacement for a plug-in's GetPjrtApi; nullptr if the plug-in is not recorded.
GetTable take(GetTable get_table) {
  char path[PATH_MAX];
  find_file(reinterpret_cast<const void*>(get_table), path);
  if (!is_wanted(path)) return nullptr;
  GetTable found = nullptr;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; found == nullptr && i < std::size(plugins); ++i) {
    Plugin& plugin = plugins[i];
    if (plugin.get_table == nullptr) {
      std::strcpy(plugin.path, path);
      plugin.get_table = get_table;
    }
    if (std::strcmp(plugin.path, path) == 0) found = kTracedTables[i];
  }
  pthread_mutex_unlock(&mutex);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "framedex: %s is not recorded: at most %zu plug-ins per process are, here %s and %s. Choose them with "
                 "FRAMEDEX_PLUGIN.\n",
                 path, std::size(plugins), plugins[0].path, plugins[1].path);
  }
  return found;
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
  return reinterpret_cast<void*>(take(get_table));
}
}
