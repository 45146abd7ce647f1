#include "call_stream/callbacks.h"

#include <map>
#include <utility>

#include "call_stream/times.h"

namespace framedex::call_stream {

std::vector<int64_t> Callbacks::invoked(const capture::Definitions& definitions, int64_t began) const {
  std::map<std::pair<uint32_t, uint64_t>, int64_t> times;  // by thread and sequence
  for (const capture::PendingCallback& pending : pending_) {
    times[{pending.thread, pending.call.sequence}] = kForever;
  }
  for (const capture::ThreadInvocation& each : definitions.invocations()) {
    times[{each.record.thread, each.record.sequence}] = definitions.timeline().nanoseconds(each.record.time) - began;
  }
  std::vector<int64_t> rows;
  for (const Registration& each : registrations_) {
    auto found = times.find({each.thread, each.sequence});
    if (found != times.end()) rows.insert(rows.end(), {static_cast<int64_t>(each.row), found->second});
  }
  return rows;
}

}  // namespace framedex::call_stream
