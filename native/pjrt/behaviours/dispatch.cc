#include "pjrt/behaviours/dispatch.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "pjrt/behaviours/vigil.h"
#include "pjrt/mock/base/forks.h"

namespace framedex::behaviours {
namespace {

namespace python = mock::python;

constexpr std::chrono::seconds kPatienceAtEnd{2};

std::atomic<bool> is_closed{false};
std::atomic<int> under_way{0};
std::atomic<python::Object*> dispatcher{nullptr};  // never released: any thread may be using it

const mock::ProcessOwner& set_in_this_process() {
  static const mock::ProcessOwner here;
  return here;
}

}  // namespace

void set_dispatcher(python::Object* callable) {
  set_in_this_process();
  dispatcher.store(python::share(callable).release(), std::memory_order_release);
}

bool can_dispatch() {
  return !is_closed && dispatcher.load(std::memory_order_acquire) != nullptr && set_in_this_process() &&
         python::is_usable();
}

DispatchEntry::DispatchEntry() {
  ++under_way;
  is_open_ = can_dispatch();
}
DispatchEntry::~DispatchEntry() { --under_way; }

void dispatch(WatchedCall& call) {
  BehaviourScope inside;
  SlowBehaviourWatch vigil(call);
  python::Reference function = python::integer(static_cast<int64_t>(call.function()));
  python::Reference address = python::integer(static_cast<int64_t>(reinterpret_cast<intptr_t>(&call)));
  if (python::call(dispatcher.load(std::memory_order_acquire), {function.get(), address.get()})) return;
  mock::Status status = python::take_error();
  call.fail({status.code, status.message});
}

void close() {
  is_closed = true;
  auto end = std::chrono::steady_clock::now() + kPatienceAtEnd;
  python::WithoutGil without_gil;
  while (under_way > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace framedex::behaviours
