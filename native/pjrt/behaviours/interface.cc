// The C functions that framedex_native.behaviour.layer calls through ctypes. All of them need the GIL.
#include <cstdint>
#include <cstring>
#include <string>

#include "pjrt/behaviours/clients.h"
#include "pjrt/behaviours/dispatch.h"
#include "pjrt/behaviours/table.h"
#include "pjrt/behaviours/watched_call.h"
#include "recorder/base/export.h"

using namespace framedex::behaviours;

namespace {

// The outcome of a call, for Python: a code, 0 for success, and a message that is valid until the thread's next call.
struct CallOutcome {
  int code;
  const char* text;
  size_t size;
};

CallOutcome outcome_of(const std::optional<Failure>& failure) {
  static thread_local std::string text;
  text = failure ? failure->message : "";
  return {failure ? static_cast<int>(failure->code) : 0, text.data(), text.size()};
}

std::optional<Failure> no_table_failure() {
  return Failure{PJRT_Error_Code_FAILED_PRECONDITION, "no framework has asked for the plug-in's table yet"};
}

}  // namespace

extern "C" {

FRAMEDEX_EXPORT void framedex_behaviour_set_dispatcher(framedex::mock::python::Object* callable) {
  set_dispatcher(callable);
}

FRAMEDEX_EXPORT void framedex_behaviour_close() { close(); }

FRAMEDEX_EXPORT void framedex_behaviour_watch(size_t function, int is_wanted) { watch(function, is_wanted != 0); }

FRAMEDEX_EXPORT CallOutcome framedex_behaviour_ask(size_t function, void* arguments) {
  if (table_below() == nullptr) return outcome_of(no_table_failure());
  if (default_of(function) == nullptr) {
    return outcome_of(Failure{PJRT_Error_Code_UNIMPLEMENTED, std::string("the plug-in has no ") + name_of(function)});
  }
  return outcome_of(ask(function, arguments));
}

FRAMEDEX_EXPORT size_t framedex_behaviour_clients(PJRT_Client** clients, size_t room) {
  return live_clients(clients, room);
}

FRAMEDEX_EXPORT void* framedex_behaviour_arguments(WatchedCall* call) { return call->arguments(); }

FRAMEDEX_EXPORT unsigned long framedex_behaviour_caller_thread(WatchedCall* call) { return call->caller_thread(); }

FRAMEDEX_EXPORT CallOutcome framedex_behaviour_run(WatchedCall* call) { return outcome_of(call->run()); }

FRAMEDEX_EXPORT void framedex_behaviour_fail(WatchedCall* call, int code, const char* text, size_t size) {
  call->fail({static_cast<PJRT_Error_Code>(code), std::string(text, size)});
}

FRAMEDEX_EXPORT void framedex_behaviour_answer(WatchedCall* call) { call->answer(); }

FRAMEDEX_EXPORT int framedex_behaviour_is_abandoned(WatchedCall* call) { return call->is_abandoned(); }

FRAMEDEX_EXPORT void framedex_behaviour_begin(WatchedCall* call, const char* name, const char* place) {
  call->begin(name, place);
}

FRAMEDEX_EXPORT void framedex_behaviour_end(WatchedCall* call, const char* outcome, int code, const char* text,
                                            size_t size) {
  call->end(outcome, {static_cast<PJRT_Error_Code>(code), std::string(text, size)});
}
}
