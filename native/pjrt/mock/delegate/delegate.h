// The C++ interface of the mock's Python half (native/framedex_native/mock_tpu), which compiles and runs programs on
// jaxlib's CPU client.
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

// Returns the folder of the Python half, beside this library.
std::string package_folder();

// Returns the names of the PJRT buffer types; the index is the type's number.
std::vector<std::string> element_type_names();

// An array of the CPU client with a piece on each of several devices.
struct ShardedArray {
  python::OwnedReference array;
  size_t device_count;
};

// Releases the memory of arrays without a reference now; Python and jaxlib would do so later. Call without the GIL.
// Does nothing without a delegate.
void release_memory_of_dropped_arrays();

class Delegate {
 public:
  // Returns the delegate for these devices; the devices of process `process_index` are this process's own. The first
  // caller creates it, once per process. Releases the GIL while it waits. Without Python or jax, returns null with the
  // reason in `status`.
  static Delegate* find_or_create(const std::vector<PJRT_DeviceDescription*>& devices, int process_index,
                                  Status& status);

  // False once Python finalizes, and in a fork of the process that created it.
  bool is_usable() const;

  // Whether it runs programs together with the delegates of other processes.
  bool is_distributed() const { return is_distributed_; }

  // Compiles a program; releases the GIL while XLA works. On failure returns null with the reason in `status`.
  std::shared_ptr<const Program> compile(ProgramSource source, Status& status);

  // ---- With the GIL. A null result means that a Python exception is set.

  // Creates a row-major array of these bytes on the CPU device that stands in for the device. The array keeps the bytes
  // alive.
  python::Reference array(std::shared_ptr<char> bytes, const Shape& shape, int device_id);
  python::Reference joined(python::Object* pieces, const Program& program);
  python::Reference copied(python::Object* array);
  python::Reference piece(const ShardedArray& whole, size_t index);
  // Starts the program. Pass the result to results_of() and token_of().
  python::Reference execute(const Program& program, python::Object* arguments);
  // Returns the result arrays of a started program.
  python::Reference results_of(const Program& program, python::Object* started);
  // Returns a token to wait for the program's end. Unlike a result, a token is never donated to another program.
  python::Reference token_of(python::Object* started);
  bool is_ready(python::Object* array);
  // Waits for an array or a token; releases the GIL meanwhile. Returns false if an exception is set.
  bool wait(python::Object* array_or_token);
  // Returns the address of an array on one device; null with an exception set.
  char* address(python::Object* array);

 private:
  Delegate() = default;
  Status open(const std::vector<PJRT_DeviceDescription*>& devices, int process_index);

  const ProcessOwner owner_;
  bool is_distributed_ = false;
  python::OwnedReference compile_;
  python::OwnedReference array_;
  python::OwnedReference joined_;
  python::OwnedReference copied_;
  struct Names {
    python::OwnedReference with_tokens, consume_with_handlers, consume_token, is_ready, block_until_ready,
        unsafe_buffer_pointer;
  } names_;
};

}  // namespace framedex::mock
