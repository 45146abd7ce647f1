// Fuzzes calls: objects and links refer only to existing calls and objects.
#include <algorithm>
#include <set>

#include "call_stream/call_columns.h"
#include "call_stream/causal_links.h"
#include "call_stream/lifetimes.h"
#include "fuzz/input.h"

namespace {

namespace call_stream = framedex::call_stream;
namespace capture = framedex::capture;
using call_stream::CallColumns;
using call_stream::Role;
using framedex::fuzz::Input;
using framedex::fuzz::require;

constexpr uint32_t kThreads = 4;  // the first two have Python
const std::vector<std::string> kFunctions = {
    "PJRT_Client_Create", "create", "execute", "use", "is_deleted", "look_up", "delete", "destroy", "close"};

// A few functions like those of the C API.
call_stream::ObjectTable object_table() {
  call_stream::ObjectTable table;
  auto client = table.type("client");
  auto buffer = table.type("buffer");
  auto device = table.type("device");
  auto error = table.type("error");
  table.add("PJRT_Client_Create", {{}, {{"c", client, Role::kCreates, false}}, true, {}, true, "", ""});
  table.add(
      "create",
      {{{"c", client, Role::kUses, false}}, {{"a", buffer, Role::kCreates, false}}, true, {buffer}, false, "", ""});
  table.add("execute",
            {{{"a", buffer, Role::kUses, true}}, {{"b", buffer, Role::kCreates, true}}, true, {}, false, "", ""});
  table.add("use", {{{"a", buffer, Role::kUses, false}}, {}, false, {}, false, "", ""});
  table.add("is_deleted", {{{"a", buffer, Role::kUses, false}}, {}, false, {}, false, "", "t"});
  table.add("look_up",
            {{{"c", client, Role::kUses, false}}, {{"a", device, Role::kNames, true}}, false, {}, false, "a", ""});
  table.add("delete", {{{"a", buffer, Role::kDeletes, false}}, {}, false, {}, false, "", ""});
  table.add("destroy", {{{"a", buffer, Role::kDestroys, false}}, {}, false, {}, false, "", ""});
  table.add(
      "close",
      {{{"c", client, Role::kDestroys, false}, {"a", error, Role::kDestroys, false}}, {}, false, {}, false, "", ""});
  return table;
}

// A call is: gap, thread, function, duration, error, stack, values before and after.
CallColumns read_calls(Input input) {
  CallColumns calls;
  int64_t start = input.number<int8_t>();
  while (!input.at_end()) {
    start += input.number<uint8_t>();
    uint32_t thread = input.number<uint8_t>() % kThreads;
    uint32_t function = input.number<uint8_t>() % kFunctions.size();
    int64_t duration = std::max<int64_t>(input.number<int16_t>(), -1);
    int32_t error = std::max<int32_t>(input.number<int8_t>(), -1);
    uint32_t stack = thread < 2 ? input.number<uint8_t>() % 4 : 4;
    std::string_view values = input.take(input.number<uint8_t>());
    std::string_view results = input.take(input.number<uint8_t>());
    calls.add({0, thread, function, stack, start, duration, error, 0, false}, values, results);
  }
  calls.finish();
  return calls;
}

void check_objects(const CallColumns& calls, size_t batch) {
  call_stream::Lifetimes lifetimes(object_table());
  for (const std::string& name : kFunctions) lifetimes.add_function(name, {"a", "b", "c", "bytes", "id", "t"});
  std::set<uint64_t> objects;
  auto take = [&] {
    call_stream::ObjectRows rows = lifetimes.take_objects();
    require(std::is_sorted(rows.object.begin(), rows.object.end()));
    for (size_t i = 0; i < rows.object.size(); ++i) {
      objects.insert(rows.object[i]);
      require(rows.address[i] != 0 && rows.first_call[i] <= rows.last_call[i] && rows.last_call[i] < calls.size());
      require(rows.owner[i] == call_stream::kNone || objects.count(static_cast<uint64_t>(rows.owner[i])) == 1);
    }
    require(objects.empty() || *objects.rbegin() + 1 == objects.size());
    call_stream::ViolationRows violations = lifetimes.take_violations();
    require(std::is_sorted(violations.call.begin(), violations.call.end()));
    for (uint64_t object : violations.object) require(objects.count(object) == 1);
  };
  for (size_t row = 0; row < calls.size(); ++row) {
    lifetimes.add(calls.at(row));
    if (row % batch == 0) take();
  }
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.at(row).duration < 0) lifetimes.returned(calls.at(row));
  }
  lifetimes.finish();
  take();
  for (uint64_t object : lifetimes.take_numbers().object) require(objects.count(object) == 1);
}

void check_links(const CallColumns& calls) {
  auto native = capture::FrameLanguage::kNative;
  auto python = capture::FrameLanguage::kPython;
  const std::vector<capture::Frame> frames = {
      {native, 0, 1, 0, false}, {python, 0, 2, 1, false}, {python, 0, 4, 2, false}, {native, 0, 3, 0, false}};
  const std::vector<capture::Stack> stacks = {{"merged", false, {0, 1}, {}},
                                              {"merged", false, {3, 1}, {}},
                                              {"merged", true, {0, 2, 1}, {}},
                                              {"no-host", false, {0, 3}, {2, 1}},
                                              {"merged", false, {0, 3}, {}}};
  call_stream::CausalLinks links(object_table(), stacks, frames, false);
  for (const std::string& name : kFunctions) links.add_function(name, {"a", "b", "c", "bytes", "id", "t"});
  for (uint32_t thread = 0; thread < 2; ++thread) links.add_python_thread(thread);
  for (size_t row = 0; row < calls.size(); ++row) links.add(calls.at(row));
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.at(row).duration < 0) links.returned(calls.at(row));
  }
  links.finish();
  call_stream::LinkRows rows = links.take_links();
  std::set<std::pair<uint64_t, uint32_t>> linked;
  for (size_t i = 0; i < rows.call.size(); ++i) {
    require(rows.call[i] < calls.size() && calls.at(rows.call[i]).thread >= 2 && rows.thread[i] < 2);
    require(rows.chain[i] < links.chains().size() && !links.chains()[rows.chain[i]].empty());
    require(linked.emplace(rows.call[i], rows.thread[i]).second);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  size_t batch = 1 + input.number<uint8_t>() % 8;
  CallColumns calls = read_calls(input);
  check_objects(calls, batch);
  check_links(calls);
  return 0;
}
