#include "call_stream/call_columns.h"

#include <unordered_map>

#include "call_stream/times.h"

namespace framedex::call_stream {

using capture::Body;

void CallColumns::add(const RecordedCall& call, std::string_view values, std::string_view results) {
  calls_.push_back(call);
  calls_.back().row = calls_.size() - 1;
  values_.push_back({bytes_.size(), values.size()});
  bytes_ += values;
  results_.push_back({bytes_.size(), results.size()});
  bytes_ += results;
}

RecordedCall CallColumns::at(size_t row) const {
  RecordedCall call = calls_.at(row);
  call.values =
      Body(std::string_view(bytes_).substr(values_[row].begin, values_[row].size), capture::version_2::kVersion);
  call.results =
      Body(std::string_view(bytes_).substr(results_[row].begin, results_[row].size), capture::version_2::kVersion);
  return call;
}

void CallColumns::finish() {
  struct UnfinishedCall {
    int64_t end;
    uint64_t outermost;
  };
  std::unordered_map<uint32_t, std::vector<UnfinishedCall>> open;
  std::unordered_map<uint32_t, size_t> last;
  for (RecordedCall& call : calls_) {
    std::vector<UnfinishedCall>& enclosing = open[call.thread];
    while (!enclosing.empty() && enclosing.back().end <= call.start) enclosing.pop_back();
    call.outermost = enclosing.empty() ? call.row : enclosing.back().outermost;
    if (call.duration >= 0) enclosing.push_back({sum(call.start, call.duration), call.outermost});
    call.is_last_of_thread = false;
    last[call.thread] = call.row;
  }
  for (const auto& [thread, row] : last) calls_[row].is_last_of_thread = true;
}

}  // namespace framedex::call_stream
