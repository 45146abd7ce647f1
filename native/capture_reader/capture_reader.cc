#include "capture_reader/capture_reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "capture_reader/arguments_json.h"
#include "capture_reader/call_records.h"
#include "capture_reader/stream_reader.h"
#include "capture_reader/timeline.h"

namespace framedex::capture {
namespace {

namespace fs = std::filesystem;

struct OpenCall {
  uint32_t thread;
  uint32_t function;
  uint32_t stack;
  uint64_t start;
  uint64_t end = 0;
  bool has_returned = false;
  int32_t error = -1;
  JsonObject arguments;
};

const char* name_of(MergeOutcome outcome) {
  switch (outcome) {
    case MergeOutcome::kMerged:
      return "merged";
    case MergeOutcome::kNotTold:
      return "not-told";
    case MergeOutcome::kNoHost:
      return "no-host";
    case MergeOutcome::kCountMismatch:
      return "count-mismatch";
    case MergeOutcome::kHostMismatch:
      return "host-mismatch";
  }
  return "unknown";
}

// The part of a module's record before its texts.
ModuleRecord module_record(Body* body, uint32_t version) {
  if (version != version_1::kVersion) return body->read<ModuleRecord>();
  auto old = body->read<version_1::ModuleRecord>();
  return {old.id, old.path_size, old.build_id_size, old.fingerprint_size, old.base, old.size, 0, 0, 0, 0};
}

// All of a small file; empty if it cannot be read.
std::string content_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The identity of the capture that capture.json states, 0 if it states none.
uint64_t identity_in(const std::string& metadata) {
  constexpr std::string_view kMember = "\"identity\": \"";
  size_t at = metadata.find(kMember);
  if (at == std::string::npos) return 0;
  return std::strtoull(metadata.substr(at + kMember.size(), 16).c_str(), nullptr, 16);
}

struct ThreadFiles {
  uint32_t number;
  std::string definitions;
  std::string ring;  // empty where the calls are with the definitions
};

// The files of the threads, in the order in which the threads began.
std::vector<ThreadFiles> thread_files(const std::string& folder, std::error_code* error) {
  std::map<int, ThreadFiles> found;
  for (fs::directory_iterator entry(folder, *error), end; !*error && entry != end; entry.increment(*error)) {
    std::string name = entry->path().filename().string();
    if (name.rfind(kThreadStem, 0) != 0) continue;
    int number = std::atoi(name.c_str() + std::strlen(kThreadStem));
    std::string stem = kThreadStem + std::to_string(number);
    bool is_ring = name == stem + kRingSuffix;
    if (number < 0 || (!is_ring && name != stem + kStreamSuffix)) continue;
    ThreadFiles& thread = found[number];
    thread.number = static_cast<uint32_t>(number);
    (is_ring ? thread.ring : thread.definitions) = entry->path().string();
  }
  std::vector<ThreadFiles> files;
  for (auto& [number, thread] : found) files.push_back(std::move(thread));
  return files;
}

struct ThreadStreams {
  uint32_t number;
  std::optional<StreamReader> ring;
  StreamReader definitions;
};

void add_process(const StreamHeader& header, Stops* stops) {
  stops->reasons |= static_cast<uint32_t>(header.stop_reasons);
}

void add_thread(const StreamHeader& definitions, const StreamHeader& calls, Stops* stops) {
  auto reasons = static_cast<uint32_t>(definitions.stop_reasons | calls.stop_reasons);
  stops->reasons |= reasons;
  stops->threads += reasons != 0;
  stops->missing_calls += calls.missing_calls;
}

// Joins the streams. Ids are per stream on disk; here equal things from several threads get one number.
class Decoder {
 public:
  explicit Decoder(std::string folder) : folder_(std::move(folder)) {}

  Capture decode() {
    // The process may still be writing, so what refers to something is copied before what it refers to.
    std::error_code error;
    std::deque<ThreadStreams> threads;
    for (const ThreadFiles& files : thread_files(folder_, &error)) {
      std::optional<StreamReader> ring;
      if (!files.ring.empty()) ring.emplace(files.ring);
      threads.push_back({files.number, std::move(ring), StreamReader(files.definitions)});
    }
    StreamReader process(folder_ + "/" + kProcessStream);
    metadata_ = content_of(folder_ + "/" + kMetadataFile);
    choose_identity(process, threads);
    read_process(process);
    for (; !threads.empty(); threads.pop_front()) read_thread(&threads.front());
    if (error) problem(folder_ + " cannot be listed: " + error.message() + ".");
    emit_calls();
    if (damaged_ != 0) problem(std::to_string(damaged_) + " damaged records were left out.");
    return std::move(capture_);
  }

  std::vector<Module> modules() {
    StreamReader process(folder_ + "/" + kProcessStream);
    identity_ = process.header().capture;
    read_process(process);
    return std::move(capture_.modules);
  }

 private:
  // The ids of one thread's stream, and its calls under way.
  struct Scope {
    uint32_t thread;
    bool is_ring;  // whether the beginnings of calls may be gone
    std::unordered_map<uint32_t, uint32_t> codes;
    std::unordered_map<uint32_t, uint32_t> frames;
    std::unordered_map<uint32_t, uint32_t> stacks;
    std::unordered_map<uint64_t, size_t> open;  // call sequence -> position in calls_
  };

  void problem(std::string text) { capture_.problems.push_back(std::move(text)); }

  // Decides which capture the streams have to belong to: the one that capture.json states if any stream agrees with it,
  // else that of process.fdx, else that of a thread's stream.
  void choose_identity(const StreamReader& process, const std::deque<ThreadStreams>& threads) {
    std::vector<uint64_t> said;
    auto hear = [&](const StreamReader& stream) {
      if (stream.is_stream() && !stream.has_damaged_header()) said.push_back(stream.header().capture);
    };
    hear(process);
    for (const ThreadStreams& thread : threads) hear(thread.definitions);
    uint64_t named = identity_in(metadata_);
    bool is_named = std::find(said.begin(), said.end(), named) != said.end();
    identity_ = is_named || said.empty() ? named : said.front();
  }

  // Whether a stream is of this capture, and what its file's name says.
  bool belongs_here(const StreamReader& stream, StreamKind kind, uint32_t number) {
    const StreamHeader& header = stream.header();
    if (!stream.is_stream() || stream.has_damaged_header()) return stream.is_stream();
    if (header.capture != identity_) {
      problem(stream.path() + " is of another capture; it is left out. Put the file of this one back in its place.");
      return false;
    }
    bool is_version_1 = header.version == version_1::kVersion;  // its header has no number
    if (is_version_1 || (header.kind == kind && header.number == number)) return true;
    problem(stream.path() + " was written under another name; it is left out. Give the streams their names back.");
    return false;
  }

  void read_process(StreamReader& stream) {
    add_problems(stream);
    if (!belongs_here(stream, StreamKind::kProcess, 0)) return;
    add_process(stream.header(), &capture_.stops);
    size_t told = stream.problems().size();
    for (Record record{RecordKind::kPadding, Body({})}; stream.next(&record);) {
      if (record.kind == RecordKind::kModule) read_module(record.body, stream.header().version);
      if (record.kind == RecordKind::kThread) read_thread_record(record.body);
      if (record.kind == RecordKind::kMetadata) read_metadata_record(record.body);
      if (record.kind == RecordKind::kFunction) read_function(record.body);
      if (record.kind == RecordKind::kHandler) read_handler(record.body);
      if (record.kind == RecordKind::kDescription) read_description(record.body);
      if (record.kind == RecordKind::kClock && !read_clock(record.body)) ++damaged_;
    }
    add_problems(stream, told);
  }

  // Reports streams of the thread that are missing: the record is written once they are there.
  void read_thread_record(Body body) {
    auto record = body.read<ThreadRecord>();
    if (body.is_broken()) {
      ++damaged_;
      return;
    }
    std::string stem = folder_ + "/" + kThreadStem + std::to_string(record.number);
    for (const std::string& path :
         {stem + kStreamSuffix, stem + (record.has_ring != 0 ? kRingSuffix : kStreamSuffix)}) {
      std::error_code error;
      if (fs::exists(path, error) || error) continue;
      problem(path + " is missing: what that thread recorded is not there.");
      break;
    }
  }

  void read_metadata_record(Body body) {
    auto record = body.read<MetadataRecord>();
    bool is_as_written = metadata_.size() == record.size && check_of(metadata_.data(), record.size) == record.check;
    if (body.is_broken() || is_as_written) return;
    problem(folder_ + "/" + kMetadataFile + " is not as it was written: what it says of the run may be wrong.");
  }

  void read_module(Body body, uint32_t version) {
    auto record = module_record(&body, version);
    Module module{std::string(body.take(record.path_size)),
                  std::string(body.take(record.build_id_size)),
                  std::string(body.take(record.fingerprint_size)),
                  record.base,
                  record.size,
                  {record.file_size, record.file_inode, record.file_modified_ns, record.file_changed_ns}};
    if (body.is_broken()) {
      ++damaged_;
      return;
    }
    module_ids_[record.id] = static_cast<int64_t>(capture_.modules.size());
    capture_.modules.push_back(std::move(module));
  }

  void read_function(Body body) {
    auto record = body.read<BoundaryRecord>();
    std::string boundary(body.take_terminated());
    std::string name(body.take_terminated());
    std::vector<std::string> values;
    for (uint32_t i = 0; i < record.field_count && !body.is_broken(); ++i) values.emplace_back(body.take_terminated());
    if (body.is_broken()) {
      ++damaged_;
      return;
    }
    function_ids_[record.id] = add_function(std::move(boundary), std::move(name), std::move(values));
  }

  // Makes the frame in which a handler's stacks end. As in every native frame, the offset is that of the byte after the
  // one meant.
  void read_handler(Body body) {
    auto record = body.read<HandlerRecord>();
    auto module = module_ids_.find(record.module);
    if (body.is_broken()) {
      ++damaged_;
      return;
    }
    int64_t owner = module != module_ids_.end() ? module->second : -1;
    handlers_[function_of(record.function)] = add_frame({FrameLanguage::kNative, owner, record.offset + 1, 0, false});
  }

  void read_description(Body body) {
    std::string kind(body.take_terminated());
    std::string json(body.take_terminated());
    if (body.is_broken()) {
      ++damaged_;
      return;
    }
    capture_.descriptions.emplace_back(std::move(kind), std::move(json));
  }

  uint32_t add_function(std::string boundary, std::string name, std::vector<std::string> values) {
    capture_.functions.emplace_back(std::move(boundary), std::move(name));
    value_names_.push_back(std::move(values));
    return static_cast<uint32_t>(capture_.functions.size() - 1);
  }

  // The function with this id. One whose record is lost (a damaged process.fdx) still has its calls.
  uint32_t function_of(uint32_t id) {
    auto [entry, is_new] = function_ids_.try_emplace(id, 0);
    if (is_new) entry->second = add_function("unknown", "function_" + std::to_string(id), {});
    return entry->second;
  }

  void read_thread(ThreadStreams* streams) {
    add_problems(streams->definitions);
    bool has_definitions = belongs_here(streams->definitions, StreamKind::kThread, streams->number);
    if (streams->definitions.is_stream() && !has_definitions) return;
    if (streams->ring) add_problems(*streams->ring);
    Scope scope{static_cast<uint32_t>(capture_.threads.size()), false, {}, {}, {}, {}};
    capture_.threads.push_back({0, ""});
    const StreamReader& calls = streams->ring ? *streams->ring : streams->definitions;
    add_thread(streams->definitions.header(), calls.header(), &capture_.stops);
    read_stream(streams->definitions, &scope);
    if (!streams->ring || !belongs_here(*streams->ring, StreamKind::kRing, streams->number)) return;
    scope.is_ring = true;
    read_stream(*streams->ring, &scope);
  }

  void read_stream(StreamReader& stream, Scope* scope) {
    size_t told = stream.problems().size();
    if (stream.header().thread_id != 0) {
      capture_.threads[scope->thread] = {stream.header().thread_id, stream.header().thread_name};
    }
    for (Record record{RecordKind::kPadding, Body({})}; stream.next(&record);) {
      if (!read_record(record, scope)) ++damaged_;
    }
    add_problems(stream, told);
  }

  // Adds the stream's problems but for the first `told`, which were added before.
  void add_problems(const StreamReader& stream, size_t told = 0) {
    for (size_t i = told; i < stream.problems().size(); ++i) problem(stream.problems()[i]);
  }

  bool read_record(Record& record, Scope* scope) {
    switch (record.kind) {
      case RecordKind::kCode:
        return read_code(record.body, scope);
      case RecordKind::kFrame:
        return read_frame(record.body, scope);
      case RecordKind::kStack:
        return read_stack(record.body, scope);
      case RecordKind::kCall:
        return read_call(record, scope);
      case RecordKind::kReturn:
        return read_return(record, scope);
      case RecordKind::kClock:
        return read_clock(record.body);
      default:
        return false;
    }
  }

  bool read_code(Body body, Scope* scope) {
    auto record = body.read<CodeRecord>();
    Code code{std::string(body.take(record.filename_size)), std::string(body.take(record.qualname_size)),
              std::string(body.take(record.line_table_size)), record.first_line};
    if (body.is_broken()) return false;
    auto key = std::make_tuple(code.filename, code.qualname, code.first_line, code.line_table);
    auto [entry, is_new] = code_ids_.try_emplace(std::move(key), static_cast<uint32_t>(capture_.codes.size()));
    if (is_new) capture_.codes.push_back(std::move(code));
    scope->codes[record.id] = entry->second;
    return true;
  }

  bool read_frame(Body body, Scope* scope) {
    auto record = body.read<FrameRecord>();
    if (body.is_broken()) return false;
    Frame frame{record.language, -1, record.offset, 0, record.is_returning != 0};
    if (record.language == FrameLanguage::kPython) {
      auto code = scope->codes.find(record.owner);
      if (code == scope->codes.end()) return false;
      frame.owner = code->second;
      const Code& source = capture_.codes[code->second];
      frame.line = line_of(source.line_table, source.first_line, record.offset);
    } else if (auto module = module_ids_.find(record.owner); module != module_ids_.end()) {
      frame.owner = module->second;
    }
    scope->frames[record.id] = add_frame(frame);
    return true;
  }

  uint32_t add_frame(const Frame& frame) {
    auto key = std::make_tuple(frame.language, frame.owner, frame.offset, frame.is_returning);
    auto [entry, is_new] = frame_ids_.try_emplace(key, static_cast<uint32_t>(capture_.frames.size()));
    if (is_new) capture_.frames.push_back(frame);
    return entry->second;
  }

  bool read_stack(Body body, Scope* scope) {
    auto record = body.read<StackRecord>();
    bool is_truncated = record.is_truncated != 0 || record.outcome == MergeOutcome::kNotTold;
    Stack stack{name_of(record.outcome), is_truncated, {}, {}};
    bool ok = read_frames(&body, record.frame_count, *scope, &stack.frames) &&
              read_frames(&body, record.python_count, *scope, &stack.python);
    if (!ok) return false;
    scope->stacks[record.id] = add_stack(std::move(stack));
    return true;
  }

  bool read_frames(Body* body, uint32_t count, const Scope& scope, std::vector<uint32_t>* frames) {
    for (uint32_t i = 0; i < count; ++i) {
      auto id = body->read<uint32_t>();
      auto frame = scope.frames.find(id);
      if (body->is_broken() || frame == scope.frames.end()) return false;
      frames->push_back(frame->second);
    }
    return true;
  }

  uint32_t add_stack(Stack stack) {
    auto key = std::make_tuple(stack.outcome, stack.is_truncated, stack.frames, stack.python);
    auto [entry, is_new] = stack_ids_.try_emplace(std::move(key), static_cast<uint32_t>(capture_.stacks.size()));
    if (is_new) capture_.stacks.push_back(std::move(stack));
    return entry->second;
  }

  uint32_t stack_of(const Scope& scope, uint32_t id) {
    auto stack = scope.stacks.find(id);
    if (stack != scope.stacks.end()) return stack->second;
    return add_stack({"missing", false, {}, {}});
  }

  // The stack with the code that the function's calls enter added as its leaf.
  uint32_t entering(uint32_t function, uint32_t stack) {
    auto handler = handlers_.find(function);
    if (handler == handlers_.end()) return stack;
    auto [entry, is_new] = entered_stacks_.try_emplace({function, stack}, 0);
    if (is_new) {
      Stack entered = capture_.stacks[stack];
      entered.frames.insert(entered.frames.begin(), handler->second);
      entry->second = add_stack(std::move(entered));
    }
    return entry->second;
  }

  bool read_call(const Record& record, Scope* scope) {
    CallStart start;
    if (!read_start(record, &start)) return false;
    OpenCall call;
    call.thread = scope->thread;
    call.function = function_of(start.function);
    call.stack = entering(call.function, stack_of(*scope, start.stack));
    call.start = start.time;
    bool ok = add_values(start.values, value_names_[call.function], &call.arguments);
    scope->open[start.sequence] = calls_.size();
    calls_.push_back(std::move(call));
    return ok;
  }

  bool read_return(const Record& record, Scope* scope) {
    CallEnd end;
    if (!read_end(record, &end)) return false;
    auto open = scope->open.find(end.sequence);
    if (open == scope->open.end()) return scope->is_ring;
    OpenCall& call = calls_[open->second];
    call.end = std::max(end.time, call.start);
    call.has_returned = true;
    call.error = end.error;
    scope->open.erase(open);
    return add_values(end.values, value_names_[call.function], &call.arguments);
  }

  bool read_clock(Body body) {
    auto record = body.read<ClockRecord>();
    if (body.is_broken()) return false;
    timeline_.add(record);
    return true;
  }

  void emit_calls() {
    timeline_.finish();
    std::vector<size_t> order(calls_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t a, size_t b) { return calls_[a].start < calls_[b].start; });
    Calls& calls = capture_.calls;
    for (size_t index : order) {
      const OpenCall& call = calls_[index];
      calls.thread.push_back(call.thread);
      calls.function.push_back(call.function);
      calls.stack.push_back(call.stack);
      int64_t start = timeline_.nanoseconds(call.start);
      calls.start.push_back(start);
      // An end can be before its start in a damaged capture, or where clocks differ between processors.
      int64_t passed = std::max<int64_t>(timeline_.nanoseconds(call.end) - start, 0);
      calls.duration.push_back(call.has_returned ? passed : -1);
      calls.error.push_back(call.error);
      calls.arguments.push_back(call.arguments.finish());
    }
  }

  std::string folder_;
  std::string metadata_;  // the text of capture.json
  uint64_t identity_ = 0;
  Capture capture_;
  Timeline timeline_;
  std::vector<OpenCall> calls_;
  std::vector<std::vector<std::string>> value_names_;  // by function
  std::unordered_map<uint32_t, int64_t> module_ids_;
  std::unordered_map<uint32_t, uint32_t> function_ids_;
  std::unordered_map<uint32_t, uint32_t> handlers_;                   // frame by function
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> entered_stacks_;  // by function and stack
  std::map<std::tuple<std::string, std::string, int32_t, std::string>, uint32_t> code_ids_;
  std::map<std::tuple<FrameLanguage, int64_t, uint64_t, bool>, uint32_t> frame_ids_;
  std::map<std::tuple<std::string, bool, std::vector<uint32_t>, std::vector<uint32_t>>, uint32_t> stack_ids_;
  size_t damaged_ = 0;
};

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

Capture read_capture(const std::string& folder) { return Decoder(folder).decode(); }

std::vector<Module> read_modules(const std::string& folder) { return Decoder(folder).modules(); }

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
