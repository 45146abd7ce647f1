// The calls of a plug-in's C API that a replay makes. Errors of the plug-in become exceptions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt_c_api.h"
#include "replay/plan.h"
#include "replay/recorded_callbacks.h"

namespace framedex::replay {

// An error that the plug-in returned. `code` is the API's.
class PluginError : public std::runtime_error {
 public:
  PluginError(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  int code;
};

// A buffer's shape and its content in row-major order.
struct Content {
  PJRT_Buffer_Type type;
  std::vector<int64_t> dimensions;
  std::string bytes;
};

struct Execution {
  std::vector<std::vector<PJRT_Buffer*>> arguments;  // of each device
  std::vector<std::vector<PJRT_Buffer*>> outputs;    // of each device, filled by the execution
};

// A loaded plug-in with a client. Methods throw PluginError. Functions that the plug-in's table lacks count as
// unimplemented.
class Plugin {
 public:
  // Loads a library. Throws std::runtime_error if it is not a plug-in.
  explicit Plugin(const std::string& path);

  // Registers FFI handlers of CPU programs. An execution fails if the plug-in does not accept its handler.
  void register_handlers(const std::map<std::string, XLA_FFI_Handler*>& handlers) const;
  // Creates the client. Call it once, before the methods below. Throws std::runtime_error for a malformed option.
  void create_client(const std::vector<CreateOption>& options);

  size_t devices() const { return devices_.size(); }
  int minor_version() const { return api_->pjrt_api_version.minor_version; }
  std::string platform() const;

  PJRT_LoadedExecutable* compile(std::string program, const std::string& format, const std::string& options);
  // Returns once the plug-in no longer reads `bytes`.
  PJRT_Buffer* send(const Operation& operation, const std::string& bytes);
  PJRT_Buffer* copy(PJRT_Buffer* source, int64_t device, const std::string& memory);
  // Returns once all devices have ended, also if one of them fails. `answers` has the bytes of the operation's answers.
  void execute(PJRT_LoadedExecutable* executable, const Operation& operation, const std::vector<std::string>& answers,
               Execution& execution);
  Content read(PJRT_Buffer* buffer);
  void remove_content(PJRT_Buffer* buffer);
  void destroy(PJRT_Buffer* buffer);
  void destroy(PJRT_LoadedExecutable* executable);

 private:
  // Returns a function of the table. Throws PluginError if the table lacks it.
  template <typename Function>
  Function find(Function PJRT_Api::* function, const char* name) const;
  // Calls a function of the table.
  template <typename Function, typename Arguments>
  void call(Function PJRT_Api::* function, const char* name, Arguments& arguments) const;
  void check(PJRT_Error* error) const;
  // Waits for an event, and destroys it.
  void wait(PJRT_Event* event) const;
  PJRT_Device* device(int64_t index) const;
  // Returns the device's memory of this kind; nullptr stands for the default memory.
  PJRT_Memory* memory(int64_t device, const std::string& kind) const;
  size_t outputs_of(PJRT_LoadedExecutable* executable) const;

  const PJRT_Api* api_ = nullptr;
  PJRT_Client* client_ = nullptr;
  std::vector<PJRT_Device*> devices_;
  std::deque<RecordedCallbacks> callbacks_;
};

}  // namespace framedex::replay
