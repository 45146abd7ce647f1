// A capture of any records is read, and refers to nothing that it has not.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "capture_reader/capture_reader.h"
#include "fuzz/capture_folder.h"

namespace {

namespace capture = framedex::capture;
using framedex::fuzz::require;

// Gone with the process.
class TemporaryFolder {
 public:
  TemporaryFolder() { require(mkdtemp(path_.data()) != nullptr); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  // In memory, where there is such a folder: thousands of files are written every second.
  std::string path_ = std::string(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/framedex-fuzz-XXXXXX";
};

void check_frames(const capture::Capture& found) {
  for (const capture::Frame& frame : found.frames) {
    bool is_python = frame.language == capture::FrameLanguage::kPython;
    auto owners = static_cast<int64_t>(is_python ? found.codes.size() : found.modules.size());
    require(frame.owner >= (is_python ? 0 : -1) && frame.owner < owners && frame.line >= 0);
  }
  for (const capture::Stack& stack : found.stacks) {
    for (uint32_t frame : stack.frames) require(frame < found.frames.size());
    for (uint32_t frame : stack.python) require(frame < found.frames.size());
  }
}

void check_calls(const capture::Capture& found) {
  const capture::Calls& calls = found.calls;
  for (size_t i = 0; i < calls.start.size(); ++i) {
    require(calls.thread[i] < found.threads.size() && calls.function[i] < found.functions.size());
    require(calls.stack[i] < found.stacks.size() && calls.duration[i] >= -1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TemporaryFolder folder;
  static framedex::fuzz::CaptureFolder written(folder.path());
  written.write(framedex::fuzz::Input(data, size));
  capture::Capture found = capture::read_capture(written.path());
  check_frames(found);
  check_calls(found);
  // Streams that are not what their names say are counted, and left out.
  require(capture::count_records(written.path()).threads >= found.threads.size());
  return 0;
}
