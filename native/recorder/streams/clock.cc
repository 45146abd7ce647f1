#include "recorder/streams/clock.h"

#include <fstream>
#include <string>

#include "recorder/process/background.h"

namespace framedex::recorder {

Clock Clock::find() {
  std::string source;
  BackgroundThread::instance().perform([&] {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    file >> source;
  });
  return Clock(source == architecture::kCounterSource ? capture::ClockKind::kCounter
                                                      : capture::ClockKind::kNanoseconds);
}

}  // namespace framedex::recorder
