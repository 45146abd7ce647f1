// Runs the operations of a plan on a plug-in, and reports each result.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "replay/plan.h"
#include "replay/plugin.h"
#include "replay/report.h"

namespace framedex::replay {

struct Settings {
  std::string capture;         // the capture's folder
  bool reads_outputs = false;  // report all results of executions, and contents of reads that are as recorded
  uint64_t seed = 0;
};

class Replayer {
 public:
  Replayer(Plugin& plugin, Report& report, Settings settings)
      : plugin_(plugin), report_(report), settings_(std::move(settings)) {}

  // An error of the plug-in ends the operation, not the replay.
  void run(const Operation& operation);

 private:
  bool has_operands(const Operation& operation) const;
  void perform(const Operation& operation);
  void execute(const Operation& operation);
  std::string content_to_send(const Operation& operation) const;
  void report_content(const char* word, const Operation& operation, size_t device, size_t index, PJRT_Buffer* buffer);

  Plugin& plugin_;
  Report& report_;
  Settings settings_;
  std::unordered_map<int64_t, PJRT_LoadedExecutable*> executables_;
  std::unordered_map<int64_t, PJRT_Buffer*> buffers_;
};

}  // namespace framedex::replay
