#include "recorder/recorder.h"

#include <pthread.h>

#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "recorder/base/errno_scope.h"
#include "recorder/base/inside.h"
#include "recorder/crash_file.h"
#include "recorder/process/background.h"
#include "recorder/process/launcher_report.h"
#include "recorder/process/loader_lock.h"
#include "recorder/thread_recorder.h"

namespace framedex::recorder {
namespace {

// Read by every recorded call. Constant-initialised, so a read costs one load.
struct RecordingSwitch {
  std::atomic<Session*> session{nullptr};
  // Set in a forked child of a recorded process, until its first call starts its own capture.
  std::atomic<bool> child_pending{false};
  std::atomic<uint32_t> forks{0};
};
RecordingSwitch recording;

// The state of a thread: plain data, found through the thread pointer alone, in the static TLS space that the loader
// reserves. A pthread key frees the recorder at thread exit, so the main thread stays recordable until the process
// ends.
#define FRAMEDEX_FAST_TLS thread_local __attribute__((tls_model("initial-exec")))
// This thread's number among the threads that set notes; 0 for other threads. The system reuses its own thread ids.
FRAMEDEX_FAST_TLS uint64_t noting_thread = 0;
std::atomic<uint64_t> noting_threads{0};

bool is_of_word(char each) { return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_'; }

// Returns the name of a program's module, which JAX derives from the first member of the note; empty if the member is
// missing.
std::string module_name(std::string_view note) {
  constexpr std::string_view kBegin = R"({"name": ")";
  if (note.substr(0, kBegin.size()) != kBegin) return {};
  note.remove_prefix(kBegin.size());
  std::string name(note.substr(0, note.find('"')));
  for (char& each : name) {
    if (!is_of_word(each) && each != '.' && each != '-') each = '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

// Whether the code of a program, in any format, contains the name of a module.
bool names_module(std::string_view code, const std::string& name) {
  if (name.empty()) return false;
  for (size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    size_t end = at + name.size();
    if (end == code.size() || !is_of_word(code[end])) return true;
  }
  return false;
}

// The notes that threads set for their next programs, by `noting_thread`. A compilation that fails early does not take
// its note.
struct Notes {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::string> by_thread;

  // Takes this thread's note for a program with this code. Some jaxlib releases compile on a thread of their own while
  // the noting thread waits. Such a thread takes the note whose module the code contains, if there is exactly one.
  std::string take(std::string_view code) {
    std::lock_guard lock(mutex);
    auto found = by_thread.find(noting_thread);
    if (found == by_thread.end()) {
      for (auto each = by_thread.begin(); each != by_thread.end(); ++each) {
        if (!names_module(code, module_name(each->second))) continue;
        if (found != by_thread.end()) return {};
        found = each;
      }
    }
    if (found == by_thread.end()) return {};
    std::string note = std::move(found->second);
    by_thread.erase(found);
    return note;
  }
};

// The rest of the process-wide state. Leaked on purpose: calls come after static destructors.
struct State {
  std::mutex mutex;
  std::vector<Function> functions;
  std::vector<std::pair<std::string, std::string>> descriptions;  // kind, JSON
  std::vector<std::pair<std::string, std::string>> pending;       // for the next capture only
  std::string captures;
  pthread_key_t thread_exit;
  Notes notes;

  State() {
    pthread_key_create(&thread_exit, forget_thread);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  }
  static State& instance() {
    static auto* state = new State;
    return *state;
  }
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  static void forget_thread(void* thread);
};

FRAMEDEX_FAST_TLS ThreadRecorder* current_thread = nullptr;
// The number of calls since creating this thread's streams failed; 0 if it succeeded.
FRAMEDEX_FAST_TLS uint32_t calls_unrecorded = 0;
constexpr uint32_t kCallsBetweenAttempts = 64;

void State::before_fork() {
  instance().mutex.lock();
  LoaderLock::lock();
}

void State::after_fork_in_parent() {
  LoaderLock::unlock();
  instance().mutex.unlock();
}

void State::after_fork_in_child() {
  State& state = instance();
  new (&state.mutex) std::mutex;
  new (&state.notes) Notes;
  LoaderLock::renew_in_child();
  recording.forks.fetch_add(1, std::memory_order_relaxed);
  if (recording.session.exchange(nullptr) != nullptr) recording.child_pending = true;
  BackgroundThread::forget_in_child();
  // The streams belong to the parent: the child neither writes nor unmaps them.
  current_thread = nullptr;
  pthread_setspecific(state.thread_exit, nullptr);
}

// Other destructors of the thread may still make calls; those start a new stream.
void State::forget_thread(void* thread) {
  InsideScope inside;
  current_thread = nullptr;
  delete static_cast<ThreadRecorder*>(thread);
}

void start_in_child() {
  ErrnoScope errno_scope;
  if (is_in_signal_handler() || !recording.child_pending.exchange(false)) return;
  try {
    start(State::instance().captures);
  } catch (const std::exception& error) {
    // Report to the launcher only: the program itself did not request this capture.
    report_to_launcher("failed", error.what());
  }
}

__attribute__((noinline)) ThreadRecorder* create_thread_recorder(Session* session) {
  ErrnoScope errno_scope;
  if (calls_unrecorded != 0 && ++calls_unrecorded % kCallsBetweenAttempts != 0) return nullptr;
  if (is_in_signal_handler()) return nullptr;
  State& state = State::instance();
  // Keep the recorder if a call of the stopped recording is still open further out on this stack.
  if (current_thread != nullptr && !current_thread->has_open_calls()) delete current_thread;
  current_thread = ThreadRecorder::create(session).release();
  calls_unrecorded = current_thread == nullptr ? 1 : 0;
  pthread_setspecific(state.thread_exit, current_thread);
  return current_thread;
}

// Returns this thread's recorder for the current session, nullptr if there is none.
ThreadRecorder* thread_recorder(Session* session) {
  bool is_known = current_thread != nullptr && current_thread->session() == session;
  return __builtin_expect(is_known, 1) ? current_thread : create_thread_recorder(session);
}

// Returns this thread's recorder if it has to record a call of a function.
ThreadRecorder* recorder_for(uint32_t function) {
  if (__builtin_expect(recording.child_pending.load(std::memory_order_relaxed), 0)) start_in_child();
  Session* session = recording.session.load(std::memory_order_acquire);
  Treatment treatment = session != nullptr ? session->treatment_of(function) : Treatment::kIgnored;
  if (treatment == Treatment::kIgnored) return nullptr;
  ThreadRecorder* thread = thread_recorder(session);
  if (thread == nullptr) return nullptr;
  if (treatment == Treatment::kCounted) {
    thread->count_query();
    return nullptr;
  }
  return thread->samples_next() ? thread : nullptr;
}

}  // namespace

__thread bool is_inside = false;

std::atomic<bool> is_active{false};

uint32_t register_functions(const Function* functions, size_t count) {
  InsideScope inside;
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  auto first = static_cast<uint32_t>(state.functions.size());
  if (first + count > Session::kMaximumFunctions) throw std::length_error("too many boundary functions");
  state.functions.insert(state.functions.end(), functions, functions + count);
  if (Session* session = recording.session.load()) session->write_functions(state.functions);
  return first;
}

bool describe(std::string_view kind, std::string_view json) {
  InsideScope inside;
  if (kind.size() + json.size() > kMaximumDescription) return false;
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  const auto& description = state.descriptions.emplace_back(kind, json);
  if (Session* session = recording.session.load()) session->describe(description.first, description.second);
  return true;
}

bool describe_once(std::string_view kind, std::string_view json) {
  InsideScope inside;
  if (kind.size() + json.size() > kMaximumDescription) return false;
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  if (Session* session = recording.session.load()) {
    session->describe(std::string(kind), std::string(json));
  } else {
    state.pending.emplace_back(kind, json);
  }
  return true;
}

void keep(ArgumentWriter& writer, uint16_t field, const char* bytes, size_t size) noexcept {
  InsideScope inside;
  ErrnoScope errno_scope;
  Session* session = recording.session.load(std::memory_order_acquire);
  if (session == nullptr || bytes == nullptr) return;
  try {
    writer.text(field, session->keep_program({bytes, size}));
  } catch (const std::exception&) {  // no memory: the call is recorded without it
  }
}

void note(std::string_view note) noexcept {
  InsideScope inside;
  Notes& notes = State::instance().notes;
  try {
    std::lock_guard lock(notes.mutex);
    if (noting_thread == 0) noting_thread = ++noting_threads;
    notes.by_thread.erase(noting_thread);
    if (!note.empty()) notes.by_thread.emplace(noting_thread, note);
  } catch (const std::exception&) {  // no memory: as above
  }
}

void keep_note(ArgumentWriter& writer, uint16_t field, std::string_view code) noexcept {
  InsideScope inside;
  std::string note = State::instance().notes.take(code);
  if (!note.empty()) keep(writer, field, note.data(), note.size());
}

Contents kept_contents() noexcept {
  Session* session = recording.session.load(std::memory_order_acquire);
  return session == nullptr ? Contents::kNone : session->contents().choice();
}

size_t largest_content() noexcept {
  Session* session = recording.session.load(std::memory_order_acquire);
  return session == nullptr ? 0 : session->contents().largest();
}

void keep_sent(ArgumentWriter& writer, uint16_t field, const char* bytes, size_t size) noexcept {
  InsideScope inside;
  ErrnoScope errno_scope;
  Session* session = recording.session.load(std::memory_order_acquire);
  if (session == nullptr || bytes == nullptr) return;
  try {
    writer.text(field, session->contents().keep_sent({bytes, size}));
  } catch (const std::exception&) {  // no memory: the call is recorded without it
  }
}

uint64_t begin_read() noexcept {
  static std::atomic<uint64_t> reads{0};
  return reads.fetch_add(1, std::memory_order_relaxed) + 1;
}

void keep_read(uint64_t read, const char* bytes, size_t size) noexcept {
  InsideScope inside;
  ErrnoScope errno_scope;
  Session* session = recording.session.load(std::memory_order_acquire);
  if (session == nullptr) return;
  try {
    session->describe("read", session->contents().describe_read(read, {bytes, size}));
  } catch (const std::exception&) {  // no memory: as above
  }
}

std::string start(const std::string& captures) {
  InsideScope inside;
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  if (Session* session = recording.session.load()) {
    throw std::runtime_error("a recording is already running, into " + session->folder() + ". Stop it first.");
  }
  BackgroundThread::instance();  // under the lock that a fork waits for
  Session* session = Session::create(captures);
  report_to_launcher("began", session->folder());
  session->write_functions(state.functions);
  for (const auto& [kind, json] : state.descriptions) session->describe(kind, json);
  for (const auto& [kind, json] : state.pending) session->describe(kind, json);
  state.pending.clear();
  state.captures =
      session->folder().substr(0, session->folder().rfind('/'));  // absolute: a child may change its folder
  recording.child_pending = false;
  recording.session.store(session, std::memory_order_release);
  is_active.store(true, std::memory_order_release);
  return session->folder();
}

std::string stop() {
  InsideScope inside;
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  is_active.store(false, std::memory_order_relaxed);
  Session* session = recording.session.exchange(nullptr);
  if (session == nullptr) return {};
  session->note_stopped();
  return session->folder();
}

std::string current_capture() {
  Session* session = recording.session.load();
  return session != nullptr ? session->folder() : std::string();
}

void start_from_environment() noexcept {
  InsideScope inside;
  try {
    std::string captures = captures_from_environment();
    if (!captures.empty() && current_capture().empty()) start(captures);
  } catch (const std::exception& error) {
    // A launcher prints the failure itself when the program has ended.
    if (!report_to_launcher("failed", error.what())) {
      std::fprintf(stderr, "framedex: nothing is recorded: %s\n", error.what());
    }
  }
}

void Call::begin() noexcept {
  if (is_inside) return;
  is_inside = true;
  thread_ = recorder_for(function_);
  is_inside = thread_ != nullptr;  // until the call is entered
}

void Call::end() noexcept {
  if (sequence_ != 0) {
    leave(0, {});
  } else {  // the call was never entered
    thread_->arguments().clear();
    is_inside = false;
  }
}

ArgumentWriter& Call::arguments() {
  is_inside = true;
  return thread_->arguments();
}

// Not inlined: its frame separates the recorder's frames from the caller's. Compiled with a frame pointer, through
// which the caller's registers are found.
__attribute__((noinline)) void Call::enter() noexcept { enter_at(registers_of_caller()); }

void Call::enter_from(const StartRegisters& start) noexcept { enter_at(start); }

inline void Call::enter_at(const StartRegisters& start) noexcept {
  ErrnoScope errno_scope;
  forks_ = recording.forks.load(std::memory_order_relaxed);
  sequence_ = thread_->enter(function_, start);
  is_inside = false;
  if (sequence_ == ThreadRecorder::kNotRecorded) thread_ = nullptr;
}

void record_fatal_signal(int number, const siginfo_t& info, const void* context) noexcept {
  InsideScope inside;
  leave_faulty_walk();
  if (current_thread != nullptr) current_thread->note_signal(number);
  Session* session = recording.session.load(std::memory_order_acquire);
  if (session != nullptr && session->settings().crashes) {
    write_crash_file(session->folder(), session->python(), number, info, context);
  }
}

ExpectedCallback Call::expect(size_t slot, const void* object) noexcept {
  // A child forked inside the call leaves the parent's capture alone.
  bool is_ours = forks_ == recording.forks.load(std::memory_order_relaxed);
  if (thread_ == nullptr || !is_ours || !thread_->expect(sequence_, slot, object)) return {};
  return {thread_->session(), slot, sequence_, thread_->number(), forks_};
}

uint64_t Call::stack() const noexcept {
  uint64_t of_recording = uint64_t{thread_->number()} << 32 | thread_->innermost_stack();
  return thread_->session()->identity() ^ of_recording;  // a random number
}

void forget_callback(const ExpectedCallback& callback) noexcept {
  if (callback.session == nullptr || callback.forks != recording.forks.load(std::memory_order_relaxed)) return;
  callback.session->open_calls().remove_callback(callback.slot);
}

void record_invocation(const ExpectedCallback& callback, int error) noexcept {
  forget_callback(callback);
  Session* session = recording.session.load(std::memory_order_acquire);
  if (session == nullptr || session != callback.session || is_inside) return;
  InsideScope inside;
  ErrnoScope errno_scope;
  ThreadRecorder* thread = thread_recorder(session);
  if (thread != nullptr) thread->record_invocation(callback.thread, callback.sequence, error);
}

void Call::leave(int error, std::string_view message) noexcept {
  ErrnoScope errno_scope;
  // A child forked inside the call also returns from it, but only the parent records the return.
  bool is_ours = forks_ == recording.forks.load(std::memory_order_relaxed);
  uint64_t time = thread_->session()->clock().now();
  is_inside = true;
  if (is_ours) thread_->leave(sequence_, error, message, time);
  is_inside = false;
  thread_ = nullptr;
}

}  // namespace framedex::recorder
