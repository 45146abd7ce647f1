// A compiled program: its properties for PJRT, and the objects of jaxlib's CPU client that run it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/mock/arrays/shape.h"
#include "pjrt/mock/base/python.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// A parameter or result on one device.
struct ProgramValue {
  std::shared_ptr<const Shape> shape;
  std::string memory_kind;
};

// The source of a program, from which it can be compiled again.
struct ProgramSource {
  std::string format;
  std::string code;
  std::string options;  // a serialised CompileOptionsProto
};

struct Program {
  ProgramSource source;
  int64_t key = 0;  // identifies it in transfers to and from the host
  std::string name;
  int64_t replicas = 1;
  int64_t partitions = 1;
  std::vector<int> device_ids;    // the mock's devices, replica by replica
  std::vector<int> cpu_ordinals;  // XLA's numbers of the CPU devices that stand in for them
  std::string device_assignment;  // a serialised DeviceAssignmentProto
  std::vector<ProgramValue> parameters;
  std::vector<ProgramValue> results;
  std::vector<std::pair<size_t, int64_t>> donated;  // parameter -> the result that reuses its memory
  std::vector<bool> is_written;                     // by parameter: whether it is donated
  std::string optimized;                            // a serialised HloModuleProtoWithConfig
  std::vector<std::pair<std::string, double>> costs;
  std::vector<std::pair<std::string, int64_t>> memory;  // bytes, by the member names of GetCompiledMemoryStats
  std::string fingerprint;
  bool has_transfers = false;

  // Runs the program; empty if it was compiled in another process.
  python::OwnedReference execute;          // takes a list of arrays
  python::OwnedReference result_handlers;  // create arrays from the results
  python::OwnedReference sharding;         // of the arrays

  // Returns the bytes of one of the names in `memory`, 0 if it is unknown.
  int64_t memory_size(std::string_view statistic) const;
};

// Parses the Python half's description of a program (mock_tpu/program.py: Program.description). Returns false if it is
// malformed.
bool read_description(std::string_view bytes, Program& program);

}  // namespace framedex::mock
