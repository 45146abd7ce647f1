// A plan: the operations of a replay, in order.
//
// The text begins with the line `framedex-plan 1`. Each other line is an option of the client, an answer of an FFI
// handler, or an operation. An operation has its name, its id (the row of its call in the capture), and its operands,
// separated by single spaces:
//
//   option 0 NAME KIND VALUE
//   answer ID TARGET SIGNATURE ARGUMENTS CONTENT
//
//   compile ID EXECUTABLE PROGRAM OPTIONS FORMAT
//   send ID BUFFER DEVICE MEMORY TYPE CONTENT RANK DIMENSION...
//   execute ID EXECUTABLE LAUNCH DEVICE DEVICES ARGUMENTS OUTPUTS BUFFER... COUNT NON_DONATABLE... [CALLBACKS]
//   copy ID BUFFER SOURCE DEVICE MEMORY
//   read ID BUFFER CONTENT
//   delete ID BUFFER
//   destroy ID BUFFER
//   unload ID EXECUTABLE
//
// Executables and buffers are numbers of the plan. A device is an index among the client's addressable devices; -1 for
// none. MEMORY is a memory's kind, `-` for the device's default. PROGRAM, OPTIONS and CONTENT are file names in the
// capture's folders; CONTENT is `-` if it is unknown. The content of `send` can have several parts, with commas. The
// buffers of an execution are the arguments of each device, then the results of each device.
//
// CALLBACKS, of programs with host callbacks: COUNT CHANNEL... of sends, COUNT CHANNEL... of receives, then the
// recorded answers in their order, COUNT {DEVICE CHANNEL CONTENT}...; the device is its place in the execution.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::replay {

// An option of PJRT_Client_Create. KIND is `string`, `int64`, `float` or `bool`. NAME, VALUE and TARGET are
// percent-encoded.
struct CreateOption {
  std::string name;
  std::string kind;
  std::string value;
};

// The result of an FFI handler for arguments with this content name; see ffi/frame_contents.h.
struct HandlerResult {
  std::string target;
  int64_t signature = 0;
  std::string arguments;
  std::string content;
};

enum class Action { kCompile, kSend, kExecute, kCopy, kRead, kDelete, kDestroy, kUnload };

constexpr const char* kUnknown = "-";

// The content that a host callback sent to the program.
struct CallbackResult {
  size_t device = 0;
  int64_t channel = 0;
  std::string content;
};

struct Operation {
  Action action = Action::kCompile;
  int64_t id = 0;
  int64_t executable = 0;
  int64_t buffer = 0;  // the operand, or the result of kSend and kCopy
  int64_t source = 0;
  int64_t device = -1;
  std::string memory;
  std::string program;
  std::string options;
  std::string format;
  std::string content;
  PJRT_Buffer_Type type = PJRT_Buffer_Type_INVALID;
  std::vector<int64_t> dimensions;
  int64_t launch = 0;
  size_t devices = 0;
  size_t arguments = 0;          // per device
  size_t outputs = 0;            // per device
  std::vector<int64_t> buffers;  // devices * arguments, then devices * outputs
  std::vector<int64_t> non_donatable;
  std::vector<int64_t> send_channels;
  std::vector<int64_t> receive_channels;
  std::vector<CallbackResult> callback_results;
};

struct Plan {
  std::vector<CreateOption> options;
  std::vector<HandlerResult> handler_results;
  std::vector<Operation> operations;
};

// Throws std::runtime_error, which names the malformed line.
Plan parse_plan(std::string_view text);

}  // namespace framedex::replay
