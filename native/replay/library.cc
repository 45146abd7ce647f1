// The entry point of the replayer, called from a child process of framedex.
#include <csignal>
#include <exception>
#include <string>
#include <system_error>

#include "recorder/base/export.h"
#include "replay/recorded_handlers.h"
#include "replay/replayer.h"

namespace {

void replay(std::string_view plan, const char* plugin_path, framedex::replay::Report& report,
            framedex::replay::RegisterHandler register_handler, const framedex::replay::Settings& settings) {
  framedex::replay::Plan parsed = framedex::replay::parse_plan(plan);
  framedex::replay::Plugin plugin(plugin_path);
  auto& handlers = framedex::replay::RecordedHandlers::instance();
  handlers.add(settings.capture, parsed.handler_results);
  if (register_handler != nullptr) {
    for (const auto& [target, handler] : handlers.functions()) {
      register_handler(target.c_str(), reinterpret_cast<void*>(handler));
    }
  } else {
    plugin.register_handlers(handlers.functions());
  }
  plugin.create_client(parsed.options);
  report.write({"client", "0", std::to_string(plugin.devices()), std::to_string(plugin.minor_version())},
               plugin.platform());
  framedex::replay::Replayer replayer(plugin, report, settings);
  for (const framedex::replay::Operation& operation : parsed.operations) replayer.run(operation);
  report.write({"end", "0"});
}

}  // namespace

// Runs a plan of `size` bytes on a plug-in, and writes the report (report.h) to a file descriptor. Returns 0, or 1 if
// the plan or the plug-in cannot be used: the report then ends with the reason. `register_handler` registers FFI
// handlers with the process's own CPU client. If it is nullptr, the plug-in's extension registers them.
extern "C" FRAMEDEX_EXPORT int framedex_replay(const char* plan, size_t size, const char* capture, const char* plugin,
                                               int descriptor, int reads_outputs, uint64_t seed,
                                               framedex::replay::RegisterHandler register_handler) {
  std::signal(SIGPIPE, SIG_IGN);
  framedex::replay::Report report(descriptor);
  try {
    try {
      replay({plan, size}, plugin, report, register_handler, {capture, reads_outputs != 0, seed});
      return 0;
    } catch (const framedex::replay::PluginError& error) {
      report.write({"unusable", "0", std::to_string(error.code)}, error.what());
    } catch (const std::system_error&) {
      throw;
    } catch (const std::exception& error) {
      report.write({"unusable", "0", "0"}, error.what());
    }
  } catch (const std::system_error&) {  // framedex has ended: nobody reads the report
  }
  return 1;
}
