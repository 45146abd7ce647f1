#include "capture_reader/definitions.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <random>

#include "capture_reader/stops.h"
#include "capture_reader/stored_file.h"
#include "capture_reader/thread_files.h"

namespace framedex::capture {
namespace {

// A call is long if its thread makes more calls than this before it returns.
constexpr uint64_t kManyCalls = 1024;

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

// Decodes a module's record up to its texts.
ModuleRecord module_record(Body* body, uint32_t version) {
  if (version != version_1::kVersion) return body->read<ModuleRecord>();
  auto old = body->read<version_1::ModuleRecord>();
  return {old.id, old.path_size, old.build_id_size, old.fingerprint_size, old.base, old.size, 0, 0, 0, 0};
}

// Returns the capture identity in capture.json, 0 if there is none.
uint64_t identity_in(const std::string& metadata) {
  constexpr std::string_view kMember = "\"identity\": \"";
  size_t at = metadata.find(kMember);
  if (at == std::string::npos) return 0;
  return std::strtoull(metadata.substr(at + kMember.size(), 16).c_str(), nullptr, 16);
}

// The seed is random, so that a hostile capture cannot have many stacks with one hash.
uint64_t hash_of(const Stack& stack) {
  static const uint64_t seed = uint64_t{std::random_device()()} << 32 | std::random_device()();
  uint64_t hash = seed + std::hash<std::string>()(stack.outcome) + (stack.is_truncated ? 1 : 0);
  auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u ^ hash >> 29; };
  for (const std::vector<uint32_t>* chain : {&stack.frames, &stack.python}) {
    add(chain->size());
    for (uint32_t frame : *chain) add(frame);
  }
  return hash;
}

}  // namespace

bool OpenCalls::end(uint64_t sequence, uint64_t* index) {
  auto found = std::lower_bound(open_.begin(), open_.end(), sequence,
                                [](const auto& open, uint64_t wanted) { return open.first < wanted; });
  if (found == open_.end() || found->first != sequence) return false;
  *index = found->second;
  open_.erase(found);
  return true;
}

Definitions::Definitions(std::string folder) : folder_(std::move(folder)) {
  // The process may still be writing. So the ends of streams with references are read before the streams they refer to.
  std::error_code error;
  open_thread_streams(&error);
  process_ = std::make_unique<StreamReader>(folder_ + "/" + kProcessStream);
  metadata_ = content_of(folder_ + "/" + kMetadataFile);
  choose_identity();
  read_process();
  for (auto& thread : threads_) read_thread(thread.get());
  if (error) problem(folder_ + " cannot be listed: " + error.message() + ".");
  timeline_.finish();
}

bool Definitions::extend() {
  size_t known = threads_.size();
  for (auto& thread : threads_) {
    if (thread->ring || !thread->definitions->extend()) return false;
  }
  std::error_code error;
  open_thread_streams(&error);
  if (!process_->extend() || error) return false;
  capture_.stops = {};
  add_process(process_->header(), &capture_.stops);
  read_process_records();
  for (size_t index = 0; index < threads_.size(); ++index) {
    ThreadStreams* thread = threads_[index].get();
    if (index >= known) {
      read_thread(thread);
    } else {
      add_thread(thread->definitions->header(), thread->definitions->header(), &capture_.stops);
      read_stream(*thread->definitions, thread);
    }
  }
  timeline_.finish();
  return true;
}

void Definitions::open_thread_streams(std::error_code* error) {
  for (const ThreadFiles& files : thread_files(folder_, error)) {
    bool is_known = std::any_of(threads_.begin(), threads_.end(),
                                [&](const auto& thread) { return thread->number == files.number; });
    if (is_known) continue;
    auto thread = std::make_unique<ThreadStreams>();
    thread->number = files.number;
    if (!files.ring.empty()) thread->ring = std::make_unique<StreamReader>(files.ring);
    thread->definitions = std::make_unique<StreamReader>(files.definitions);
    threads_.push_back(std::move(thread));
  }
}

// Chooses the capture identity for all streams: that of capture.json if any stream agrees with it, else that of
// process.fdx, else that of a thread's stream.
void Definitions::choose_identity() {
  std::vector<uint64_t> identities;
  auto add_identity = [&](const StreamReader& stream) {
    if (stream.is_stream() && !stream.has_damaged_header()) identities.push_back(stream.header().capture);
  };
  add_identity(*process_);
  for (const auto& thread : threads_) add_identity(*thread->definitions);
  uint64_t named = identity_in(metadata_);
  bool is_named = std::find(identities.begin(), identities.end(), named) != identities.end();
  identity_ = is_named || identities.empty() ? named : identities.front();
}

// Returns whether a stream belongs to this capture and matches its file name.
bool Definitions::belongs_to_capture(const StreamReader& stream, StreamKind kind, uint32_t number) {
  const StreamHeader& header = stream.header();
  if (!stream.is_stream() || stream.has_damaged_header()) return stream.is_stream();
  if (header.capture != identity_) {
    problem(stream.path() + " belongs to another capture, so it is skipped. Restore the file of this capture.");
    return false;
  }
  bool is_version_1 = header.version == version_1::kVersion;  // its header has no number
  if (is_version_1 || (header.kind == kind && header.number == number)) return true;
  problem(stream.path() + " was written under another name, so it is skipped. Restore the names of the streams.");
  return false;
}

void Definitions::read_process() {
  add_problems(*process_);
  if (!belongs_to_capture(*process_, StreamKind::kProcess, 0)) return;
  add_process(process_->header(), &capture_.stops);
  read_process_records();
}

void Definitions::read_process_records() {
  size_t reported = process_->problems().size();
  for (Record record{RecordKind::kPadding, Body({})}; process_->next(&record);) {
    if (record.kind == RecordKind::kModule) read_module(record.body, process_->header().version);
    if (record.kind == RecordKind::kThread) read_thread_record(record.body);
    if (record.kind == RecordKind::kMetadata) read_metadata_record(record.body);
    if (record.kind == RecordKind::kFunction) read_function(record.body);
    if (record.kind == RecordKind::kHandler) read_handler(record.body);
    if (record.kind == RecordKind::kDescription) read_description(record.body);
    if (record.kind == RecordKind::kClock && !read_clock(record.body)) ++damaged_;
  }
  add_problems(*process_, reported);
}

// Reports missing streams of the thread. The recorder writes this record only after it has created the streams.
void Definitions::read_thread_record(Body body) {
  auto record = body.read<ThreadRecord>();
  if (body.is_broken()) {
    ++damaged_;
    return;
  }
  std::string stem = folder_ + "/" + kThreadStem + std::to_string(record.number);
  for (const std::string& path : {stem + kStreamSuffix, stem + (record.has_ring != 0 ? kRingSuffix : kStreamSuffix)}) {
    struct stat status = {};
    if (stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR)) continue;
    problem(path + " is missing, and with it the calls of that thread.");
    break;
  }
}

void Definitions::read_metadata_record(Body body) {
  auto record = body.read<MetadataRecord>();
  bool is_as_written = metadata_.size() == record.size && check_of(metadata_.data(), record.size) == record.check;
  if (body.is_broken() || is_as_written) return;
  problem(folder_ + "/" + kMetadataFile + " has changed since it was written: its facts about the run may be wrong.");
}

void Definitions::read_module(Body body, uint32_t version) {
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

void Definitions::read_function(Body body) {
  auto record = body.read<BoundaryRecord>();
  std::string boundary(body.take_terminated());
  std::string name(body.take_terminated());
  std::vector<std::string> values;
  for (uint32_t i = 0; i < record.field_count && !body.is_broken(); ++i) values.emplace_back(body.take_terminated());
  if (body.is_broken()) {
    ++damaged_;
    return;
  }
  function_ids_.set(record.id, add_function(std::move(boundary), std::move(name), std::move(values)));
}

// Creates the frame at which a handler's stacks end. As in every native frame, the offset is one byte past the address.
void Definitions::read_handler(Body body) {
  auto record = body.read<HandlerRecord>();
  auto module = module_ids_.find(record.module);
  if (body.is_broken()) {
    ++damaged_;
    return;
  }
  int64_t owner = module != module_ids_.end() ? module->second : -1;
  handlers_[find_or_add_function(record.function)] =
      add_frame({FrameLanguage::kNative, owner, record.offset + 1, 0, false});
}

void Definitions::read_description(Body body) {
  std::string kind(body.take_terminated());
  std::string json(body.take_terminated());
  if (body.is_broken()) {
    ++damaged_;
    return;
  }
  capture_.descriptions.emplace_back(std::move(kind), std::move(json));
}

uint32_t Definitions::add_function(std::string boundary, std::string name, std::vector<std::string> values) {
  capture_.functions.emplace_back(std::move(boundary), std::move(name));
  value_names_.push_back(std::move(values));
  return static_cast<uint32_t>(capture_.functions.size() - 1);
}

// Returns the function with this id, adding a placeholder if its record is lost (a damaged process.fdx).
uint32_t Definitions::find_or_add_function(uint32_t id) {
  uint32_t known = function_ids_.at(id);
  if (known != IdMap::kNone) return known;
  function_ids_.set(id, add_function("unknown", "function_" + std::to_string(id), {}));
  return function_ids_.at(id);
}

void Definitions::read_thread(ThreadStreams* thread) {
  add_problems(*thread->definitions);
  bool has_definitions = belongs_to_capture(*thread->definitions, StreamKind::kThread, thread->number);
  if (thread->definitions->is_stream() && !has_definitions) return;
  if (thread->ring) add_problems(*thread->ring);
  thread->thread = static_cast<uint32_t>(capture_.threads.size());
  thread->has_calls = true;
  capture_.threads.push_back({0, ""});
  add_thread(thread->definitions->header(), thread->stream_of_calls().header(), &capture_.stops);
  read_stream(*thread->definitions, thread);
  if (!thread->ring) return;
  thread->has_calls = belongs_to_capture(*thread->ring, StreamKind::kRing, thread->number);
  if (thread->has_calls) read_stream(*thread->ring, thread);
}

void Definitions::read_stream(StreamReader& stream, ThreadStreams* thread) {
  size_t reported = stream.problems().size();
  if (stream.header().thread_id != 0) {
    capture_.threads[thread->thread] = {stream.header().thread_id, stream.header().thread_name};
  }
  for (Record record{RecordKind::kPadding, Body({})}; stream.next(&record);) {
    if (!read_record(record, thread)) ++damaged_;
  }
  add_problems(stream, reported);
}

// Adds the stream's problems except for the first `reported`, which were added before.
void Definitions::add_problems(const StreamReader& stream, size_t reported) {
  for (size_t i = reported; i < stream.problems().size(); ++i) problem(stream.problems()[i]);
}

bool Definitions::read_record(const Record& record, ThreadStreams* thread) {
  switch (record.kind) {
    case RecordKind::kCode:
      return read_code(record.body, thread);
    case RecordKind::kFrame:
      return read_frame(record.body, thread);
    case RecordKind::kStack:
      return read_stack(record.body, thread);
    case RecordKind::kCall:
      return !thread->has_calls || read_call(record, thread);
    case RecordKind::kReturn:
      return !thread->has_calls || read_return(record, thread);
    case RecordKind::kClock:
      return read_clock(record.body);
    case RecordKind::kInvocation:
      return read_invocation(record.body, *thread);
    default:
      return false;
  }
}

bool Definitions::read_code(Body body, ThreadStreams* thread) {
  auto record = body.read<CodeRecord>();
  Code code{std::string(body.take(record.filename_size)), std::string(body.take(record.qualname_size)),
            std::string(body.take(record.line_table_size)), record.first_line};
  if (body.is_broken()) return false;
  auto key = std::make_tuple(code.filename, code.qualname, code.first_line, code.line_table);
  auto [entry, is_new] = code_ids_.try_emplace(std::move(key), static_cast<uint32_t>(capture_.codes.size()));
  if (is_new) capture_.codes.push_back(std::move(code));
  thread->codes[record.id] = entry->second;
  return true;
}

bool Definitions::read_frame(Body body, ThreadStreams* thread) {
  auto record = body.read<FrameRecord>();
  if (body.is_broken()) return false;
  Frame frame{record.language, -1, record.offset, 0, record.is_returning != 0};
  if (record.language == FrameLanguage::kPython) {
    auto code = thread->codes.find(record.owner);
    if (code == thread->codes.end()) return false;
    frame.owner = code->second;
    const Code& source = capture_.codes[code->second];
    frame.line = line_of(source.line_table, source.first_line, record.offset);
  } else if (auto module = module_ids_.find(record.owner); module != module_ids_.end()) {
    frame.owner = module->second;
  }
  thread->frames[record.id] = add_frame(frame);
  return true;
}

uint32_t Definitions::add_frame(const Frame& frame) {
  auto key = std::make_tuple(frame.language, frame.owner, frame.offset, frame.is_returning);
  auto [entry, is_new] = frame_ids_.try_emplace(key, static_cast<uint32_t>(capture_.frames.size()));
  if (is_new) capture_.frames.push_back(frame);
  return entry->second;
}

bool Definitions::read_stack(Body body, ThreadStreams* thread) {
  auto record = body.read<StackRecord>();
  bool is_truncated = record.is_truncated != 0 || record.outcome == MergeOutcome::kNotTold;
  Stack stack{name_of(record.outcome), is_truncated, {}, {}};
  bool ok = read_frames(&body, record.frame_count, *thread, &stack.frames) &&
            read_frames(&body, record.python_count, *thread, &stack.python);
  if (!ok) return false;
  thread->stacks.set(record.id, add_stack(std::move(stack)));
  return true;
}

bool Definitions::read_frames(Body* body, uint32_t count, const ThreadStreams& thread, Frames* frames) {
  for (uint32_t i = 0; i < count; ++i) {
    auto id = body->read<uint32_t>();
    auto frame = thread.frames.find(id);
    if (body->is_broken() || frame == thread.frames.end()) return false;
    frames->push_back(frame->second);
  }
  return true;
}

uint32_t Definitions::add_stack(Stack stack) {
  const uint64_t hash = hash_of(stack);
  auto [first, last] = stack_ids_.equal_range(hash);
  auto known = std::find_if(first, last, [&](const auto& entry) { return capture_.stacks[entry.second] == stack; });
  if (known != last) return known->second;
  auto number = static_cast<uint32_t>(capture_.stacks.size());
  stack_ids_.emplace(hash, number);
  stack.frames.shrink_to_fit();
  stack.python.shrink_to_fit();
  capture_.stacks.push_back(std::move(stack));
  return number;
}

// Creates the stack with the function's handler added as its leaf.
void Definitions::add_handler_stack(uint32_t function, uint32_t stack) {
  auto handler = handlers_.find(function);
  if (handler == handlers_.end()) return;
  auto [entry, is_new] = handler_stacks_.try_emplace({function, stack}, 0);
  if (!is_new) return;
  Stack entered = capture_.stacks[stack];
  entered.frames.insert(entered.frames.begin(), handler->second);
  entry->second = add_stack(std::move(entered));
}

uint32_t Definitions::stack_of(const ThreadStreams& thread, uint32_t function, uint32_t id) const {
  uint32_t stack = thread.stacks.at(id);
  if (stack == IdMap::kNone) stack = missing_stack_;
  if (handler_stacks_.empty()) return stack;
  auto entered = handler_stacks_.find({function, stack});
  return entered == handler_stacks_.end() ? stack : entered->second;
}

bool Definitions::has_python(uint32_t stack) {
  if (stack >= has_python_.size()) has_python_.resize(capture_.stacks.size());
  std::optional<bool>& known = has_python_[stack];
  if (!known) {
    auto is_python = [this](uint32_t frame) { return capture_.frames[frame].language == FrameLanguage::kPython; };
    const Stack& asked = capture_.stacks[stack];
    known = std::any_of(asked.frames.begin(), asked.frames.end(), is_python) ||
            std::any_of(asked.python.begin(), asked.python.end(), is_python);
  }
  return *known;
}

void Definitions::add_call(const ThreadStreams& thread, const CallStart& start) {
  uint32_t function = find_or_add_function(start.function);
  uint32_t stack = thread.stacks.at(start.stack);
  if (stack == IdMap::kNone) {
    missing_stack_ = stack = add_stack({"missing", false, {}, {}});
  }
  if (!handlers_.empty()) add_handler_stack(function, stack);
}

bool Definitions::read_call(const Record& record, ThreadStreams* thread) {
  CallStart start;
  if (!read_start(record, &start)) return false;
  if (thread->is_copy(start.sequence, thread->last_sequence)) return true;
  thread->last_sequence = start.sequence;
  add_call(*thread, start);
  uint32_t stack = thread->stacks.at(start.stack);
  thread->has_python = thread->has_python || has_python(stack == IdMap::kNone ? missing_stack_ : stack);
  if (thread->calls == 0) thread->first_start = start.time;
  thread->is_in_order &= thread->calls == 0 || start.time >= thread->last_start;
  thread->first_start = std::min(thread->first_start, start.time);
  thread->last_start = start.time;
  thread->open.begin(start.sequence, thread->calls++);
  ++calls_;
  return true;
}

bool Definitions::read_return(const Record& record, ThreadStreams* thread) {
  CallEnd end;
  uint64_t index;
  if (!read_end(record, &end)) return false;
  if (!thread->open.end(end.sequence, &index)) return thread->ring != nullptr;
  if (thread->calls - index <= kManyCalls) return true;
  std::string_view results = end.values.rest();
  thread->long_calls.push_back({end.sequence, true, end.time, end.error, std::string(results)});
  return true;
}

bool Definitions::read_invocation(Body body, const ThreadStreams& thread) {
  auto record = body.read<InvocationRecord>();
  if (body.is_broken()) return false;
  invocations_.push_back({thread.number, record});
  return true;
}

bool Definitions::read_clock(Body body) {
  auto record = body.read<ClockRecord>();
  if (body.is_broken()) return false;
  timeline_.add(record);
  return true;
}

Definitions Definitions::for_threads(std::string folder, const std::vector<uint32_t>& numbers,
                                     const std::vector<ClockRecord>& anchors) {
  Definitions found;
  found.folder_ = std::move(folder);
  for (uint32_t number : numbers) {
    auto thread = std::make_unique<ThreadStreams>();
    thread->number = number;
    std::string path = found.folder_ + "/" + kThreadStem + std::to_string(number) + kStreamSuffix;
    thread->definitions = std::make_unique<StreamReader>(path, StreamReader::Part::kDefinitions);
    found.threads_.push_back(std::move(thread));
  }
  found.process_ = std::make_unique<StreamReader>(found.folder_ + "/" + kProcessStream);
  found.metadata_ = content_of(found.folder_ + "/" + kMetadataFile);
  found.choose_identity();
  found.read_process();
  for (auto& thread : found.threads_) {
    thread->thread = static_cast<uint32_t>(found.capture_.threads.size());
    found.capture_.threads.push_back({0, ""});
    if (found.belongs_to_capture(*thread->definitions, StreamKind::kThread, thread->number)) {
      found.read_stream(*thread->definitions, thread.get());
    }
  }
  for (const ClockRecord& anchor : anchors) found.timeline_.add(anchor);
  found.timeline_.finish();
  return found;
}

std::vector<Module> Definitions::read_modules(std::string folder) {
  Definitions found;
  found.folder_ = std::move(folder);
  found.process_ = std::make_unique<StreamReader>(found.folder_ + "/" + kProcessStream);
  found.identity_ = found.process_->header().capture;
  found.read_process();
  return std::move(found.capture_.modules);
}

}  // namespace framedex::capture
