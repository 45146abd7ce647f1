#include "pjrt/interposer.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "pjrt/extension_chain.h"
#include "pjrt/plugin_faults/null_calls.h"
#include "pjrt/slots.h"
#include "pjrt/traced_call.h"
#include "recorder/base/json.h"

namespace framedex::pjrt {
namespace {

using GetTable = const PJRT_Api* (*)();

const PJRT_Api* table_of(void* library, const std::string& path) {
  for (const char* entry_point : {"framedex_mock_pjrt_api", "GetPjrtApi"}) {
    if (auto get_table = reinterpret_cast<GetTable>(dlsym(library, entry_point))) return get_table();
  }
  throw std::runtime_error(path + " is not a PJRT plug-in: it has no function GetPjrtApi.");
}

void check(const Plugin& plugin) {
  size_t header = offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version);
  if (plugin.api == nullptr) throw std::runtime_error(plugin.path + ": its GetPjrtApi returned no table.");
  if (plugin.api->struct_size < header) {
    throw std::runtime_error(plugin.path + ": its table of " + std::to_string(plugin.api->struct_size) +
                             " bytes is too short to be one of the PJRT C API.");
  }
  if (plugin.api->struct_size > kMaximumTableSize) {
    throw std::runtime_error(plugin.path + ": its table of " + std::to_string(plugin.api->struct_size) +
                             " bytes is too long to be one of the PJRT C API.");
  }
  const PJRT_Api_Version& version = plugin.api->pjrt_api_version;
  if (version.major_version != PJRT_API_MAJOR) {
    throw std::runtime_error(plugin.path + " implements version " + std::to_string(version.major_version) + "." +
                             std::to_string(version.minor_version) + " of the PJRT C API; framedex supports " +
                             std::to_string(PJRT_API_MAJOR) + "." + std::to_string(PJRT_API_MINOR) +
                             ", and the major versions must be equal.");
  }
}

std::string name_of(PJRT_Extension_Type type) {
  const char* name = enumerator(type);
  return name != nullptr ? name : std::to_string(static_cast<int>(type));
}

std::string names(PJRT_Extension_Base* first) {
  std::string text;
  for (PJRT_Extension_Base* extension : extensions_of(first)) {
    text += (text.empty() ? "" : ", ") + name_of(extension->type);
  }
  return text;
}

// Returns the names of the plug-in's extensions that are in the table's chain untraced.
std::string name_untraced(const PJRT_Extension_Base* traced, PJRT_Extension_Base* first) {
  std::string text;
  for (const PJRT_Extension_Base* plugin : extensions_of(first)) {
    const PJRT_Extension_Base* found = traced;
    while (found->type != plugin->type) found = found->next;
    if (found == plugin) text += (text.empty() ? "" : ", ") + name_of(plugin->type);
  }
  return text;
}

// Returns the sizes of the plug-in's extensions, `Layouts=80, FFI=48`.
std::string sizes(PJRT_Extension_Base* first) {
  std::string text;
  for (PJRT_Extension_Base* extension : extensions_of(first)) {
    text += (text.empty() ? "" : ", ") + name_of(extension->type) + "=" + std::to_string(extension->struct_size);
  }
  return text;
}

const char* const kValueNames[] = {"plugin",        "major_version",       "minor_version",      "struct_size",
                                   "extensions",    "untraced_extensions", "untraced_functions", "extension_sizes",
                                   "null_functions"};

// A plug-in, and the table that traces it.
struct TracedPlugin {
  std::string path;
  const PJRT_Api* table;
};

constexpr const PJRT_Api* (*kTraces[])(const PJRT_Api*) = {plugin_0::trace, plugin_1::trace};
static_assert(std::size(kTraces) == kMaximumPlugins);

std::string paths_of(const std::vector<TracedPlugin>& plugins) {
  std::string text;
  for (const TracedPlugin& plugin : plugins) text += (text.empty() ? "" : " and ") + plugin.path;
  return text;
}

// Adds the path of a plug-in, by its number in the process, to every capture. A ring overwrites the recorded request.
void describe(const Plugin& plugin, size_t number) {
  JsonObject description;
  description.text("boundary", kBoundaries[number]);
  description.text("path", plugin.path);
  recorder::describe("plugin", description.finish());
}

// Records the request for the table of a plug-in, by its number in the process.
void record(const Plugin& plugin, const PJRT_Api& table, size_t number) {
  recorder::Function function = {kBoundaries[number], "GetPjrtApi", kValueNames, std::size(kValueNames)};
  recorder::Call call(recorder::register_functions(&function, 1));
  if (!call.is_recording()) return;
  const PJRT_Api& api = *plugin.api;
  std::string extensions = names(api.extension_start);
  std::string untraced = name_untraced(table.extension_start, api.extension_start);
  std::string extension_sizes = sizes(api.extension_start);
  std::string nulls = null_functions(number);
  recorder::ArgumentWriter& writer = call.arguments();
  writer.text_or_size(0, plugin.path.data(), plugin.path.size());
  writer.integer(1, api.pjrt_api_version.major_version);
  writer.integer(2, api.pjrt_api_version.minor_version);
  writer.integer(3, static_cast<int64_t>(api.struct_size));
  writer.text_or_size(4, extensions.data(), extensions.size());
  writer.text_or_size(5, untraced.data(), untraced.size());
  writer.integer(6, static_cast<int64_t>(count_undescribed_functions(number)));
  writer.text_or_size(7, extension_sizes.data(), extension_sizes.size());
  if (!nulls.empty()) writer.text(8, nulls);
  call.enter();
  call.leave(0, {});
}

}  // namespace

Plugin plugin_from_environment() {
  const char* named = std::getenv("FRAMEDEX_PLUGIN");
  if (named == nullptr || *named == 0) return {nullptr, {}};
  std::string path = named;
  // A colon separates several plug-ins, unless the whole text is the path of one file.
  if (path.find(':') != std::string::npos && access(path.c_str(), F_OK) != 0) return {nullptr, {}};
  // The loader would resolve a bare name such as libtpu.so to this library first.
  if (path.find('/') == std::string::npos) {
    throw std::runtime_error("FRAMEDEX_PLUGIN=" + path + " is not a path: name the plug-in's file, as in ./" + path +
                             ".");
  }
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(std::string("the plug-in cannot be loaded: ") + dlerror());
  return {table_of(library, path), path};
}

const PJRT_Api* interpose(const Plugin& plugin, Layer layer) {
  static std::mutex mutex;
  static std::vector<TracedPlugin> traced;
  static std::vector<const PJRT_Api*> untraced;
  std::lock_guard lock(mutex);
  for (const TracedPlugin& known : traced) {
    if (plugin.api == known.table || plugin.path == known.path) return known.table;
  }
  check(plugin);
  if (traced.size() == kMaximumPlugins) {
    if (std::find(untraced.begin(), untraced.end(), plugin.api) != untraced.end()) return plugin.api;
    untraced.push_back(plugin.api);
    std::fprintf(stderr,
                 "framedex: %s is not recorded: at most %zu plug-ins per process are, here %s. Choose them with "
                 "FRAMEDEX_PLUGIN.\n",
                 plugin.path.c_str(), kMaximumPlugins, paths_of(traced).c_str());
    return plugin.api;
  }
  size_t number = traced.size();
  const PJRT_Api* table = kTraces[number](layer(plugin.api));
  traced.push_back({plugin.path, table});
  watch_null_calls();
  describe(plugin, number);
  record(plugin, *table, number);
  return table;
}

}  // namespace framedex::pjrt
