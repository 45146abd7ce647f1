#include "pjrt/behaviours/watched_call.h"

#include <pthread.h>

#include <chrono>
#include <cstring>
#include <utility>

#include "pjrt/behaviours/records.h"
#include "pjrt/behaviours/table.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {
namespace {

namespace python = mock::python;

// A busy holder of the GIL yields it every 5 ms. A holder that does not yield for this long may be waiting for a lock
// that the caller of this function holds.
constexpr std::chrono::milliseconds kGilTimeout{200};
constexpr std::chrono::seconds kBehaviourTimeout{1};

thread_local bool is_inside = false;
thread_local unsigned long represented_thread = 0;

unsigned long calling_thread() { return represented_thread != 0 ? represented_thread : pthread_self(); }

constexpr char kGivenUp[] = "the caller has continued without this behaviour";

}  // namespace

BehaviourScope::BehaviourScope() : before_(std::exchange(is_inside, true)) {}
BehaviourScope::~BehaviourScope() { is_inside = before_; }
RuntimeScope::RuntimeScope() : before_(std::exchange(is_inside, false)) {}
RuntimeScope::~RuntimeScope() { is_inside = before_; }
bool inside_behaviour() { return is_inside; }

ProxyCallScope::ProxyCallScope(unsigned long thread) { represented_thread = thread; }
ProxyCallScope::~ProxyCallScope() { represented_thread = 0; }

WatchedCall::WatchedCall(size_t function, void* arguments, Default answer, bool caller_has_gil)
    : function_(function),
      arguments_(arguments),
      default_(answer),
      caller_has_gil_(caller_has_gil),
      caller_thread_(calling_thread()) {}

WatchedCall::WatchedCall(size_t function, const void* arguments, size_t size, Default answer)
    : function_(function),
      copy_(static_cast<const char*>(arguments), static_cast<const char*>(arguments) + size),
      arguments_(copy_.data()),
      default_(answer),
      caller_has_gil_(false),
      caller_thread_(calling_thread()) {}

std::optional<Failure> WatchedCall::run() {
  if (!begin_default()) return Failure{PJRT_Error_Code_CANCELLED, kGivenUp};
  std::optional<python::WithoutGil> without_gil;
  if (!caller_has_gil_) without_gil.emplace();
  RuntimeScope outside;
  if (!has_run_) {
    default_error_ = default_(function_, arguments_);
    default_results_ = copy_;
    has_run_ = true;
  }
  std::optional<Failure> failure;
  if (default_error_ != nullptr) failure = read_error(*table_below(), default_error_);
  // End the default before this thread waits for the GIL again, because the caller waits until all defaults end.
  end_default();
  return failure;
}

std::optional<Failure> ask(size_t function, void* arguments) {
  PJRT_Error* error = nullptr;
  {
    python::WithoutGil without_gil;
    BehaviourScope inside;
    error = call_default(function, arguments);
  }
  if (error == nullptr) return std::nullopt;
  Failure failure = read_error(*table_below(), error);
  destroy_error(*table_below(), error);
  return failure;
}

void WatchedCall::fail(Failure failure) { failure_ = std::move(failure); }

bool WatchedCall::is_abandoned() const {
  std::lock_guard lock(mutex_);
  return state_ == State::kGivenUp;
}

bool WatchedCall::is_in_default() const {
  std::lock_guard lock(mutex_);
  return running_defaults_ > 0;
}

bool WatchedCall::begin_default() {
  std::lock_guard lock(mutex_);
  if (state_ == State::kGivenUp) return false;
  ++running_defaults_;
  return true;
}

void WatchedCall::end_default() {
  std::lock_guard lock(mutex_);
  --running_defaults_;
  ++defaults_ended_;
  changed_.notify_all();
}

WatchedCall::Run::Run(std::string behaviour, std::string where)
    : name(std::move(behaviour)), place(std::move(where)), call(run_function()) {}

void WatchedCall::begin(std::string name, std::string place) {
  Run* run = nullptr;
  {
    std::lock_guard lock(mutex_);
    run = &runs_.emplace_back(std::move(name), std::move(place));
  }
  if (!run->call.is_recording()) return;
  run->call.arguments().text(kBehaviour, run->name);
  run->call.arguments().text(kPlace, run->place);
  run->call.arguments().text(kFunction, name_of(function_));
  run->call.enter();
}

void WatchedCall::end(const std::string& outcome, const Failure& failure) {
  std::lock_guard lock(mutex_);
  if (runs_.empty()) return;
  recorder::Call& call = runs_.back().call;
  if (call.is_recording()) {
    call.arguments().text(kOutcome, outcome);
    call.leave(failure.code, failure.message);
  }
  runs_.pop_back();
}

std::pair<std::string, std::string> WatchedCall::running() const {
  std::lock_guard lock(mutex_);
  if (runs_.empty()) return {};
  return {runs_.back().name, runs_.back().place};
}

PJRT_Error* WatchedCall::settle(void* arguments) {
  if (!is_decided()) return default_(function_, arguments);
  // The function cannot return an error, so its caller relies on a result.
  bool is_left_to_default = failure_ && !has_run_ && !kFunctions[function_].returns_error;
  if (is_left_to_default) {
    default_(function_, arguments);
  } else if (!copy_.empty()) {
    std::memcpy(arguments, copy_.data(), copy_.size());
  }
  return take_error();
}

PJRT_Error* WatchedCall::take_error() {
  PJRT_Error* error = std::exchange(default_error_, nullptr);
  if (!failure_ && !is_answered_) return error;
  destroy_error(*table_below(), error);
  return failure_ ? make_error(*failure_) : nullptr;
}

bool WatchedCall::start() {
  std::lock_guard lock(mutex_);
  if (state_ != State::kWaiting) return false;
  state_ = State::kStarted;
  changed_.notify_all();
  return true;
}

void WatchedCall::finish() {
  std::lock_guard lock(mutex_);
  if (state_ != State::kGivenUp) state_ = State::kDone;
  changed_.notify_all();
}

WatchedCall::WaitResult WatchedCall::wait() {
  auto is_done = [this] { return state_ == State::kDone; };
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kGilTimeout, [this] { return state_ != State::kWaiting; })) {
    state_ = State::kGivenUp;
    return WaitResult::kLeftOut;
  }
  // Without a copy, behaviours work on the caller's own arguments, so the caller must wait.
  if (copy_.empty()) changed_.wait(lock, is_done);
  int defaults_seen = 0;
  do {
    // A running default is waited for without a timeout: its time does not count as the behaviours' time.
    changed_.wait(lock, [&] { return is_done() || running_defaults_ == 0; });
    defaults_seen = defaults_ended_;
    if (changed_.wait_for(lock, kBehaviourTimeout, is_done)) return WaitResult::kDone;
  } while (running_defaults_ > 0 || defaults_ended_ != defaults_seen);
  state_ = State::kGivenUp;
  return WaitResult::kAbandoned;
}

PJRT_Error* WatchedCall::take_default(void* arguments) {
  if (!has_run_) return default_(function_, arguments);
  std::memcpy(arguments, default_results_.data(), default_results_.size());
  return std::exchange(default_error_, nullptr);
}

}  // namespace framedex::behaviours
