#include "capture_reader/open_calls.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "capture_reader/definitions.h"
#include "capture_reader/stored_file.h"
#include "capture_reader/stream_reader.h"
#include "capture_reader/thread_calls.h"
#include "capture_reader/thread_files.h"

namespace framedex::capture {
namespace {

// The number of attempts to read a table while its thread writes it.
constexpr int kMaxAttempts = 16;

// The content of the file of open calls.
struct Tables {
  std::vector<OpenCallTable> threads;
  std::vector<PendingCallback> callbacks;  // by slot
};

bool is_intact(const OpenCallTable& table, uint32_t number) {
  return table.check == table.expected_check() && table.number == number;
}

bool is_half_written(const OpenCallTable& table) {
  for (size_t slot = 0; slot < OpenCallTable::kSlots; ++slot) {
    const OpenCall& open = table.open[slot];
    if (open.call.sequence != 0 && open.check != open.expected_check(table.check, slot)) return true;
  }
  return table.anchor_check != table.expected_anchor_check();
}

// Reads the slots of pending callbacks; retries while one of them is being written.
std::vector<PendingCallback> read_callbacks(const StoredFile& file, uint64_t capture) {
  std::vector<PendingCallback> slots(kPendingSlots);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (file.read(0, slots.data(), slots.size() * sizeof(PendingCallback)) == 0) return {};
    bool is_whole = true;
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot].check == slots[slot].expected_check(capture, slot)) continue;
      is_whole &= slots[slot].call.sequence == 0;
      slots[slot].call.sequence = 0;
    }
    if (is_whole) break;
  }
  std::vector<PendingCallback> found;
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(found),
               [](const PendingCallback& pending) { return pending.call.sequence != 0; });
  std::sort(found.begin(), found.end(), [](const PendingCallback& a, const PendingCallback& b) {
    return std::tie(a.thread, a.call.sequence) < std::tie(b.thread, b.call.sequence);
  });
  return found;
}

// Returns the table of a thread; nothing if the recorder wrote none.
std::optional<OpenCallTable> read_table(const StoredFile& file, uint32_t number) {
  OpenCallTable table{};
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    size_t offset = kPendingSize + sizeof(table) * size_t{number};
    if (file.read(offset, &table, sizeof(table)) != sizeof(table)) return std::nullopt;
    if (!is_intact(table, number)) return std::nullopt;
    if (!is_half_written(table)) break;
  }
  return table;
}

// Returns the tables of all threads with streams; nothing if one is missing.
std::optional<Tables> read_tables(const std::string& folder) {
  StoredFile file(folder + "/" + kOpenCallsFile);
  std::error_code ignored;
  Tables tables;
  for (const ThreadFiles& files : thread_files(folder, &ignored)) {
    std::optional<OpenCallTable> table = read_table(file, files.number);
    if (!table) return std::nullopt;
    tables.threads.push_back(*table);
  }
  if (tables.threads.empty()) return std::nullopt;
  tables.callbacks = read_callbacks(file, tables.threads.front().capture);
  return tables;
}

std::vector<CallRecord> open_calls_in(const OpenCallTable& table) {
  std::vector<CallRecord> open;
  for (size_t slot = 0; slot < OpenCallTable::kSlots; ++slot) {
    const OpenCall& call = table.open[slot];
    bool is_open = call.call.sequence != 0 && call.check == call.expected_check(table.check, slot);
    // The table may have changed between two slots.
    if (is_open && (open.empty() || open.back().sequence < call.call.sequence)) open.push_back(call.call);
  }
  return open;
}

std::vector<PendingCallback> callbacks_of(uint32_t thread, const Tables& tables) {
  std::vector<PendingCallback> found;
  std::copy_if(tables.callbacks.begin(), tables.callbacks.end(), std::back_inserter(found),
               [thread](const PendingCallback& pending) { return pending.thread == thread; });
  return found;
}

CaptureOpenCalls read_by_tables(const std::string& folder, const Tables& tables) {
  std::vector<uint32_t> numbers;
  std::vector<ClockRecord> anchors;
  for (const OpenCallTable& table : tables.threads) {
    bool has_calls = !open_calls_in(table).empty() || !callbacks_of(table.number, tables).empty();
    if (has_calls) numbers.push_back(table.number);
    bool has_anchor = table.anchor_time != 0 && table.anchor_check == table.expected_anchor_check();
    if (has_anchor) anchors.push_back({table.anchor_time, table.anchor_nanoseconds});
  }
  Definitions definitions = Definitions::for_threads(folder, numbers, anchors);
  CaptureOpenCalls found;
  size_t next = 0;
  for (const OpenCallTable& table : tables.threads) {
    if (table.capture != definitions.identity()) continue;
    ThreadOpenCalls& thread = found.threads.emplace_back();
    thread.thread = {table.thread_id, {table.thread_name, strnlen(table.thread_name, sizeof(table.thread_name))}};
    thread.calls = table.calls;
    thread.last_record = definitions.timeline().nanoseconds(table.last_time);
    thread.more = table.more;
    thread.signal = table.signal;
    while (next < numbers.size() && numbers[next] < table.number) ++next;
    if (next == numbers.size() || numbers[next] != table.number) continue;
    const ThreadStreams& streams = *definitions.threads()[next];
    auto row_of = [&](const CallRecord& call, uint64_t object) {
      definitions.add_call(streams, {call.sequence, call.time, call.function, call.stack});
      uint32_t function = definitions.function_of(call.function);
      uint32_t stack = definitions.stack_of(streams, function, call.stack);
      return OpenCallRow{call.sequence, definitions.timeline().nanoseconds(call.time), function, stack, object};
    };
    for (const CallRecord& call : open_calls_in(table)) thread.open.push_back(row_of(call, 0));
    for (const PendingCallback& pending : callbacks_of(table.number, tables)) {
      thread.pending.push_back(row_of(pending.call, pending.object));
    }
  }
  found.capture = definitions.capture();
  return found;
}

CaptureOpenCalls read_by_streams(const std::string& folder) {
  Definitions definitions(folder);
  CaptureOpenCalls found;
  for (auto& streams : definitions.threads()) {
    if (!streams->has_calls) continue;
    ThreadOpenCalls& thread = found.threads.emplace_back();
    thread.thread = definitions.capture().threads[streams->thread];
    uint64_t last = 0;
    ThreadCalls calls(&definitions, streams.get(), false);
    while (const ThreadCall* call = calls.front()) {
      last = std::max({last, call->start, call->end});
      thread.calls = std::max(thread.calls, call->sequence);
      if (!call->has_returned) {
        int64_t since = definitions.timeline().nanoseconds(call->start);
        thread.open.push_back({call->sequence, since, call->function, call->stack});
      }
      calls.pop(0);
    }
    thread.last_record = definitions.timeline().nanoseconds(last);
  }
  found.capture = definitions.capture();
  return found;
}

}  // namespace

CaptureOpenCalls read_open_calls(const std::string& folder) {
  std::optional<Tables> tables = read_tables(folder);
  return tables ? read_by_tables(folder, *tables) : read_by_streams(folder);
}

std::vector<PendingCallback> read_pending_callbacks(const std::string& folder) {
  uint64_t identity = StreamReader(folder + "/" + kProcessStream).header().capture;
  return read_callbacks(StoredFile(folder + "/" + kOpenCallsFile), identity);
}

std::vector<Invocation> read_invocations(const std::string& folder) {
  Definitions definitions(folder);
  std::vector<Invocation> found;
  for (const auto& [thread, record] : definitions.invocations()) {
    int64_t time = definitions.timeline().nanoseconds(record.time);
    found.push_back({thread, time, record.thread, record.sequence, record.error});
  }
  return found;
}

}  // namespace framedex::capture
