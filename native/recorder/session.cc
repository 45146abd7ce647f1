#include "recorder/session.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "recorder/base/json.h"
#include "recorder/process/background.h"
#include "recorder/process/whole_file.h"

namespace framedex::recorder {
namespace {

using capture::BoundaryRecord;
using capture::ClockRecord;
using capture::HandlerRecord;
using capture::MetadataRecord;
using capture::ModuleRecord;
using capture::RecordKind;
using capture::StreamKind;
using capture::ThreadRecord;

[[noreturn]] void fail(const std::string& what, int error) {
  bool is_descriptors = error == EMFILE || error == ENFILE;
  throw std::runtime_error(what + ": " + std::strerror(error) +
                           (is_descriptors
                                ? ". Allow the process more open files (ulimit -n)."
                                : ". Name a folder that can be written (framedex run -o DIR, or FRAMEDEX_OUT)."));
}

// mkdir -p
void make_folders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0755);
  }
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail("cannot create the folder " + path, errno);
}

// Creates a folder named after the time (UTC) and the process.
std::string make_capture_folder(const std::string& captures) {
  make_folders(captures);
  std::array<char, PATH_MAX> absolute;
  if (realpath(captures.c_str(), absolute.data()) == nullptr) fail("cannot use the folder " + captures, errno);
  time_t now = time(nullptr);
  tm utc;
  gmtime_r(&now, &utc);
  std::array<char, 32> stamp;
  strftime(stamp.data(), stamp.size(), "%Y%m%d-%H%M%S", &utc);
  std::string base = std::string(absolute.data()) + "/" + stamp.data() + "-" + std::to_string(getpid());
  std::string folder = base;
  for (int attempt = 2; mkdir(folder.c_str(), 0755) != 0; ++attempt) {
    if (errno != EEXIST) fail("cannot create the capture folder " + folder, errno);
    folder = base + "-" + std::to_string(attempt);
  }
  return folder;
}

std::vector<std::string> command_line() {
  std::vector<std::string> arguments;
  BackgroundThread::instance().perform([&] {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  });
  return arguments;
}

std::string executable() {
  std::array<char, PATH_MAX> path;
  return realpath("/proc/self/exe", path.data()) != nullptr ? path.data() : "";
}

std::string hexadecimal(uint64_t number) {
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

void copy_terminated(char*& target, std::string_view text) {
  copy_text(target, text);
  *target++ = '\0';
}

}  // namespace

Session* Session::create(const std::string& captures) {
  Settings settings = Settings::from_environment();
  std::string folder = make_capture_folder(captures);
  try {
    return create_in(folder, std::move(settings));
  } catch (const std::exception&) {
    unlink((folder + "/" + capture::kProcessStream).c_str());
    rmdir(folder.c_str());
    throw;
  }
}

Session* Session::create_in(const std::string& folder, Settings settings) {
  std::unique_ptr<Session> session(new Session(folder, std::move(settings)));
  session->process_ =
      Stream::create(session->folder_ + "/" + capture::kProcessStream,
                     session->stream_identity(StreamKind::kProcess, 0, static_cast<uint64_t>(getpid()), ""), nullptr);
  if (session->process_ == nullptr) fail("cannot write in " + session->folder_, errno);
  session->write_metadata();
  session->anchor_clock();
  return session.release();
}

void Session::write_functions(const std::vector<Function>& functions) {
  size_t first = functions_written_;
  {
    std::lock_guard lock(mutex_);
    for (size_t i = first; i < functions.size(); ++i) treatments_[i] = settings_.treatment_of(functions[i]);
    for (; functions_written_ < functions.size(); ++functions_written_) {
      write_function(static_cast<uint32_t>(functions_written_), functions[functions_written_]);
    }
  }
  for (size_t i = first; i < functions.size(); ++i) {
    if (functions[i].handler != nullptr) write_handler(static_cast<uint32_t>(i), functions[i].handler);
  }
}

void Session::write_function(uint32_t id, const Function& function) {
  size_t size = sizeof(BoundaryRecord) + std::strlen(function.boundary) + std::strlen(function.name) + 2;
  for (size_t i = 0; i < function.value_count; ++i) size += std::strlen(function.value_names[i]) + 1;
  char* body = process_->begin(size);
  if (body == nullptr) return;
  BoundaryRecord record{id, static_cast<uint32_t>(function.value_count)};
  std::memcpy(body, &record, sizeof(record));
  body += sizeof(record);
  copy_terminated(body, function.boundary);
  copy_terminated(body, function.name);
  for (size_t i = 0; i < function.value_count; ++i) copy_terminated(body, function.value_names[i]);
  process_->commit(RecordKind::kFunction);
}

void Session::write_handler(uint32_t function, const void* handler) {
  uint64_t base = 0;
  auto address = reinterpret_cast<uintptr_t>(handler);
  HandlerRecord record{function, module_of(address, &base), 0};
  record.offset = address - base;
  std::lock_guard lock(mutex_);
  write_record(RecordKind::kHandler, record);
}

void Session::describe(const std::string& kind, const std::string& json) {
  std::lock_guard lock(mutex_);
  if (char* body = process_->begin(kind.size() + json.size() + 2)) {
    copy_terminated(body, kind);
    copy_terminated(body, json);
    process_->commit(RecordKind::kDescription);
  }
}

std::string Session::keep_program(std::string_view program) {
  std::string name = programs_.store(program);
  visit_python_paths(program, [this](std::string_view path) { keep_source(path); });
  return name;
}

void Session::keep_source(std::string_view filename) {
  std::string description = sources_.keep(filename);
  if (!description.empty()) describe("source", description);
}

uint32_t Session::module_of(uintptr_t address, uint64_t* base) {
  ModuleInfo module;
  *base = 0;
  if (!find_module(address, &module)) return capture::kNoModule;
  *base = module.base;
  std::lock_guard lock(mutex_);
  for (size_t id = 0; id < modules_.size(); ++id) {
    const KnownModule& known = modules_[id];
    bool is_same = known.base == module.base && known.path == module.path && known.build_id == module.build_id;
    if (is_same) return static_cast<uint32_t>(id);
  }
  auto id = static_cast<uint32_t>(modules_.size());
  modules_.push_back({module.base, module.path, module.build_id});
  write_module(id, module);
  return id;
}

void Session::write_module(uint32_t id, const ModuleInfo& module) {
  FileMark mark;
  BackgroundThread::instance().perform([&] { mark = mark_file(module.path); });
  const std::string& fingerprint = mark.fingerprint;
  char* body = process_->begin(sizeof(ModuleRecord) + module.path.size() + module.build_id.size() + fingerprint.size());
  if (body == nullptr) return;
  ModuleRecord record{id,
                      static_cast<uint32_t>(module.path.size()),
                      static_cast<uint32_t>(module.build_id.size()),
                      static_cast<uint32_t>(fingerprint.size()),
                      module.base,
                      module.size,
                      mark.size,
                      mark.inode,
                      mark.modified_ns,
                      mark.changed_ns};
  std::memcpy(body, &record, sizeof(record));
  body += sizeof(record);
  copy_text(body, module.path);
  copy_text(body, module.build_id);
  copy_text(body, fingerprint);
  process_->commit(RecordKind::kModule);
}

Session::ThreadStreams Session::create_thread_streams() {
  uint32_t number;
  {
    std::lock_guard lock(mutex_);
    number = threads_++;
  }
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  auto thread = static_cast<uint64_t>(syscall(SYS_gettid));
  std::string path = folder_ + "/" + capture::kThreadStem + std::to_string(number);
  ThreadStreams streams;
  bool has_ring = settings_.ring;
  SegmentBudget* budget = settings_.limit != 0 ? &budget_ : nullptr;
  StreamIdentity identity = stream_identity(StreamKind::kThread, number, thread, name.data());
  streams.definitions = Stream::create(path + capture::kStreamSuffix, identity, has_ring ? nullptr : budget);
  if (has_ring) {
    streams.ring = Stream::create(path + capture::kRingSuffix,
                                  stream_identity(StreamKind::kRing, number, thread, name.data()), budget);
  }
  bool is_complete = streams.definitions != nullptr && (streams.ring != nullptr || !has_ring);
  std::lock_guard lock(mutex_);
  if (!is_complete) {
    capture::StopReason reason = stop_reason_of(errno);
    process_->note(capture::StopReason::kThreadMissing);
    process_->note(reason);
    return {};
  }
  streams.open_calls = std::make_unique<OpenCalls>(open_calls_.table(number), identity);
  write_record(RecordKind::kThread, ThreadRecord{number, has_ring});
  return streams;
}

void Session::note_stopped() {
  std::lock_guard lock(mutex_);
  process_->note(capture::StopReason::kStopped);
}

// Together with the anchor of a thread's first call, a capture has two anchors early on: enough for the clock's rate.
void Session::anchor_clock() { write_record(RecordKind::kClock, ClockRecord{clock_.now(), monotonic_nanoseconds()}); }

std::string Session::working_folder() {
  std::array<char, PATH_MAX> path;
  return getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

uint64_t Session::random_number() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number)) return number;
  std::array<uint64_t, 3> words = {nanoseconds_of(CLOCK_REALTIME), monotonic_nanoseconds(),
                                   static_cast<uint64_t>(getpid())};
  return capture::check_of(reinterpret_cast<const char*>(words.data()), sizeof(words));
}

void Session::write_metadata() {
  utsname host{};
  uname(&host);
  const char* launcher = std::getenv("FRAMEDEX_METADATA");
  JsonObject metadata;
  metadata.text("format", capture::kFormat);
  metadata.number("version", capture::kVersion);
  metadata.text("identity", hexadecimal(identity_));
  metadata.number("started_unix_ns", nanoseconds_of(CLOCK_REALTIME));
  metadata.number("started_clock_ns", monotonic_nanoseconds());
  metadata.number("pid", static_cast<uint64_t>(getpid()));
  metadata.text("executable", executable());
  metadata.texts("argv", command_line());
  metadata.text("cwd", working_folder());
  metadata.text("folder", folder_);
  metadata.text("host", host.nodename);
  metadata.text("system", std::string(host.sysname) + " " + host.release + " " + host.machine);
  metadata.text("python", python_.version());
  metadata.text("python_problem", python_.problem());
  metadata.text("launcher", launcher != nullptr ? launcher : "");
  metadata.texts("selected_by", settings_.selecting());
  metadata.member("job", job_from_environment());
  std::string path = folder_ + "/" + capture::kMetadataFile;
  std::string text = metadata.finish() + "\n";
  if (!write_whole_file(path, text)) fail("cannot write " + path, errno);
  write_record(RecordKind::kMetadata, MetadataRecord{text.size(), capture::check_of(text.data(), text.size())});
}

}  // namespace framedex::recorder
