#include "capture_reader/capture_reader.h"

#include "capture_reader/stream_reader.h"
#include "capture_reader/thread_files.h"

namespace framedex::capture {
namespace {

StreamHeader count(const std::string& path, RecordCounts* counts) {
  StreamReader stream(path);
  counts->verified += stream.header().verified;
  counts->different += stream.header().different;
  for (Record record{RecordKind::kPadding, Body({})}; stream.next(&record);) {
    counts->calls += record.kind == RecordKind::kCall;
    counts->stacks += record.kind == RecordKind::kStack;
  }
  return stream.header();
}

}  // namespace

bool was_stopped(const std::string& folder) {
  uint64_t reasons = StreamReader(folder + "/" + kProcessStream).header().stop_reasons;
  return (reasons & static_cast<uint64_t>(StopReason::kStopped)) != 0;
}

RecordCounts count_records(const std::string& folder) {
  RecordCounts counts;
  add_process(StreamReader(folder + "/" + kProcessStream).header(), &counts.stops);
  std::error_code ignored;
  for (const ThreadFiles& files : thread_files(folder, &ignored)) {
    ++counts.threads;
    StreamHeader definitions = count(files.definitions, &counts);
    add_thread(definitions, files.ring.empty() ? definitions : count(files.ring, &counts), &counts.stops);
  }
  return counts;
}

}  // namespace framedex::capture
