// Fuzzes captures: any records are read, and all references are valid.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "call_stream/call_stream.h"
#include "capture_reader/capture_reader.h"
#include "capture_reader/open_calls.h"
#include "fuzz/capture_folder.h"

namespace {

namespace call_stream = framedex::call_stream;
namespace capture = framedex::capture;
using framedex::fuzz::require;

// Removed with the process.
class TemporaryFolder {
 public:
  TemporaryFolder() { require(mkdtemp(path_.data()) != nullptr); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  // In memory if possible: thousands of files are written every second.
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

// Checks the calls of a stream in batches of `most`; kinds and arguments are numbered across batches.
uint64_t check_calls(call_stream::CallStream* stream, uint64_t most) {
  std::vector<call_stream::CallKind> kinds;
  int64_t arguments = 0;
  uint64_t calls = 0;
  for (;;) {
    call_stream::Batch batch = stream->next(most, call_stream::kForever);
    const capture::Capture& found = stream->definitions().capture();
    kinds.insert(kinds.end(), batch.kinds.begin(), batch.kinds.end());
    arguments += static_cast<int64_t>(batch.arguments.size());
    for (const call_stream::CallKind& kind : batch.kinds) {
      require(kind.thread < found.threads.size() && kind.function < found.functions.size());
      require(kind.stack < found.stacks.size());
    }
    for (size_t i = 0; i < batch.kind.size(); ++i) {
      require(batch.kind[i] >= 0 && batch.kind[i] < static_cast<int64_t>(kinds.size()));
      require(batch.argument[i] >= 0 && batch.argument[i] < arguments && batch.duration[i] >= -1);
      require(batch.inside[i] >= 0 && batch.inside[i] <= static_cast<int64_t>(batch.first + i));
    }
    calls += batch.kind.size();
    if (batch.kind.empty()) return calls;
  }
}

void check_open_calls(const std::string& path) {
  capture::CaptureOpenCalls found = capture::read_open_calls(path);
  check_frames(found.capture);
  for (const capture::ThreadOpenCalls& thread : found.threads) {
    for (const auto* calls : {&thread.open, &thread.pending}) {
      for (const capture::OpenCallRow& call : *calls) {
        require(call.function < found.capture.functions.size() && call.stack < found.capture.stacks.size());
      }
    }
  }
  capture::read_invocations(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TemporaryFolder folder;
  static framedex::fuzz::CaptureFolder written(folder.path());
  static const call_stream::ObjectTable table;
  written.write(framedex::fuzz::Input(data, size));
  call_stream::CallStream stream(written.path(), 0, table, false, false);
  check_frames(stream.definitions().capture());
  require(check_calls(&stream, 3) == stream.definitions().calls());
  // This counts streams that do not match their names; the reader omits them.
  require(capture::count_records(written.path()).threads >= stream.definitions().capture().threads.size());
  call_stream::CallStream followed(written.path(), 0, table, false, true);
  followed.next(2, 1000);
  if (followed.extend()) check_frames(followed.definitions().capture());
  followed.next(UINT64_MAX, call_stream::kForever);
  written.write_open_calls(framedex::fuzz::Input(data, size));
  check_open_calls(written.path());
  std::filesystem::remove(written.path() + "/" + capture::kOpenCallsFile);
  check_open_calls(written.path());
  return 0;
}
