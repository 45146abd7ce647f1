#include "capture_reader/stops.h"

namespace framedex::capture {

void add_process(const StreamHeader& header, Stops* stops) {
  stops->reasons |= static_cast<uint32_t>(header.stop_reasons);
}

void add_thread(const StreamHeader& definitions, const StreamHeader& calls, Stops* stops) {
  auto reasons = static_cast<uint32_t>(definitions.stop_reasons | calls.stop_reasons);
  stops->reasons |= reasons;
  stops->threads += reasons != 0;
  stops->missing_calls += calls.missing_calls;
  stops->queries += definitions.queries;
}

}  // namespace framedex::capture
