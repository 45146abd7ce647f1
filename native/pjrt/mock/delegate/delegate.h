// The C++ face of the mock's Python half (native/framedex_native/mock_tpu), which compiles and runs programs on
// jaxlib's own CPU client.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pjrt/mock/base/event.h"
#include "pjrt/mock/base/forks.h"
#include "pjrt/mock/base/python.h"
#include "pjrt/mock/delegate/program.h"
#include "pjrt/mock/machine/device_description.h"

namespace framedex::mock {

// The folder of the Python half, beside this library.
std::string package_folder();

// The names of the PJRT buffer types, by number.
std::vector<std::string> element_type_names();

// An array of the CPU client that has a piece on each of several devices.
struct ShardedArray {
  python::Held array;
  size_t device_count;
};

// Releases the memory of every array that nobody has any more; Python and jaxlib would do it at their next occasion.
// The caller does not have the GIL. Does nothing where there is no delegate.
void release_memory_of_dropped_arrays();

class Delegate {
 public:
  // The delegate for these devices, of which this process has those of process `process_index`. It is made once in a
  // process, by the first thread that asks. Null, with the reason in `status`, where there is no Python or no jax. Lets
  // go of the GIL while it waits.
  static Delegate* of(const std::vector<PJRT_DeviceDescription*>& devices, int process_index, Status& status);

  // False once Python ends, and in a process that was forked off from the one that made it.
  bool is_usable() const;

  // Whether it runs programs together with the delegates of other processes.
  bool is_distributed() const { return is_distributed_; }

  // Compiles; lets go of the GIL while XLA works. Null with the reason in `status`.
  std::shared_ptr<const Program> compile(ProgramSource source, Status& status);

  // ---- With the GIL. A null result: a Python exception is set.

  // An array of these bytes, row-major, on the CPU device that stands in for this device. The array keeps the bytes.
  python::Reference array(std::shared_ptr<char> bytes, const Shape& shape, int device_id);
  python::Reference joined(python::Object* pieces, const Program& program);
  python::Reference copied(python::Object* array);
  python::Reference piece(const ShardedArray& whole, size_t index);
  // Starts the program. results_of() and token_of() take what is returned.
  python::Reference execute(const Program& program, python::Object* arguments);
  // The arrays of a started program's results.
  python::Reference results_of(const Program& program, python::Object* started);
  // What can be waited for until it has ended; unlike a result it is never donated to another program.
  python::Reference token_of(python::Object* started);
  bool is_ready(python::Object* array);
  // Waits, without the GIL. False: an exception is set.
  bool wait(python::Object* array_or_token);
  // Where the bytes of an array on one device are; null with an exception set.
  char* address(python::Object* array);

 private:
  Delegate() = default;
  Status open(const std::vector<PJRT_DeviceDescription*>& devices, int process_index);

  const MadeHere made_here_;
  bool is_distributed_ = false;
  python::Held compile_;
  python::Held array_;
  python::Held joined_;
  python::Held copied_;
  struct Names {
    python::Held with_tokens, consume_with_handlers, consume_token, is_ready, block_until_ready, unsafe_buffer_pointer;
  } names_;
};

}  // namespace framedex::mock
