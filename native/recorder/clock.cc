#include "recorder/clock.h"

#include <fstream>
#include <string>

namespace framedex::recorder {

Clock Clock::find() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return Clock(source == "tsc" ? capture::ClockKind::kCounter : capture::ClockKind::kNanoseconds);
}

}  // namespace framedex::recorder
