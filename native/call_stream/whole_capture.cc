#include "call_stream/whole_capture.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "capture_reader/call_records.h"
#include "capture_reader/capture_reader.h"
#include "capture_reader/stream_reader.h"

namespace framedex::call_stream {
namespace {

using capture::Body;
using capture::Record;
using capture::RecordKind;
using capture::StreamReader;

struct Encoded {
  uint64_t start;
  uint32_t function;
  std::string values;
  std::string results;
};

std::string bytes_of(Body body) { return std::string(body.take(body.remaining())); }

// The streams of threads: their own, then their ring.
std::map<int, std::vector<std::string>> thread_streams(const std::string& folder) {
  std::map<int, std::vector<std::string>> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (name.rfind(capture::kThreadStem, 0) != 0) continue;
    found[std::atoi(name.c_str() + std::strlen(capture::kThreadStem))].push_back(entry.path().string());
  }
  for (auto& [number, paths] : found) std::sort(paths.begin(), paths.end());
  return found;
}

class Reader {
 public:
  WholeCapture read(const std::string& folder, int64_t started_clock_ns) {
    read_functions(folder);
    for (const auto& [number, paths] : thread_streams(folder)) {
      open_.clear();
      for (const std::string& path : paths) read_calls(path);
    }
    join(capture::read_capture(folder).calls, started_clock_ns);
    return std::move(capture_);
  }

 private:
  void read_functions(const std::string& folder) {
    StreamReader stream(folder + "/" + capture::kProcessStream);
    for (Record record{RecordKind::kPadding, Body({})}; stream.next(&record);) {
      if (record.kind == RecordKind::kHandler) function_of(record.body.read<capture::HandlerRecord>().function);
      if (record.kind != RecordKind::kFunction) continue;
      auto function = record.body.read<capture::BoundaryRecord>();
      record.body.take_terminated();
      std::string name(record.body.take_terminated());
      std::vector<std::string> values;
      for (uint32_t i = 0; i < function.field_count && !record.body.is_broken(); ++i) {
        values.emplace_back(record.body.take_terminated());
      }
      if (record.body.is_broken()) continue;
      functions_[function.id] = static_cast<uint32_t>(capture_.functions.size());
      capture_.functions.emplace_back(std::move(name), std::move(values));
    }
  }

  uint32_t function_of(uint32_t id) {
    auto [entry, is_new] = functions_.try_emplace(id, static_cast<uint32_t>(capture_.functions.size()));
    if (is_new) capture_.functions.push_back({"function_" + std::to_string(id), {}});
    return entry->second;
  }

  void read_calls(const std::string& path) {
    StreamReader stream(path);
    for (Record record{RecordKind::kPadding, Body({})}; stream.next(&record);) {
      capture::CallStart start;
      capture::CallEnd end;
      if (record.kind == RecordKind::kCall && read_start(record, &start)) {
        open_[start.sequence] = encoded_.size();
        encoded_.push_back({start.time, function_of(start.function), bytes_of(start.values), {}});
      } else if (record.kind == RecordKind::kReturn && read_end(record, &end) && open_.count(end.sequence) != 0) {
        encoded_[open_[end.sequence]].results = bytes_of(end.values);
        open_.erase(end.sequence);
      }
    }
  }

  void join(const capture::Calls& calls, int64_t started_clock_ns) {
    std::vector<size_t> order(encoded_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t a, size_t b) { return encoded_[a].start < encoded_[b].start; });
    bool is_same = calls.start.size() == order.size();
    for (size_t row = 0; is_same && row < order.size(); ++row) {
      const Encoded& encoded = encoded_[order[row]];
      is_same = encoded.function == calls.function[row];
      RecordedCall call{row,
                        calls.thread[row],
                        calls.function[row],
                        calls.stack[row],
                        calls.start[row] - started_clock_ns,
                        calls.duration[row],
                        calls.error[row],
                        row,
                        false};
      capture_.calls.add(call, encoded.values, encoded.results);
    }
    if (!is_same) throw std::runtime_error("Some streams of this capture are not of it.");
    capture_.calls.finish();
  }

  WholeCapture capture_;
  std::unordered_map<uint32_t, uint32_t> functions_;
  std::unordered_map<uint64_t, size_t> open_;
  std::vector<Encoded> encoded_;
};

}  // namespace

WholeCapture read_whole_capture(const std::string& folder, int64_t started_clock_ns) {
  return Reader().read(folder, started_clock_ns);
}

}  // namespace framedex::call_stream
