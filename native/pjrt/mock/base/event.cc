#include "pjrt/mock/base/event.h"

#include <utility>

#include "pjrt/mock/base/python.h"

namespace framedex::mock {

// By value: an action may destroy the object that contains the status.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void EventState::set(Status status) {
  std::vector<std::function<void(const Status&)>> actions;
  {
    std::lock_guard lock(mutex_);
    if (is_ready()) return;
    status_ = status;
    ready_.store(true, std::memory_order_release);
    actions.swap(actions_);
  }
  became_ready_.notify_all();
  for (const auto& action : actions) action(status);
}

bool EventState::has_succeeded() const { return is_ready() && status_.is_ok(); }

Status EventState::wait() {
  if (is_ready()) return status();
  python::WithoutGil without_gil;
  std::unique_lock lock(mutex_);
  became_ready_.wait(lock, [this] { return is_ready(); });
  return status_;
}

void EventState::on_ready(std::function<void(const Status&)> action) {
  if (!is_ready()) {
    std::lock_guard lock(mutex_);
    if (!is_ready()) {
      actions_.push_back(std::move(action));
      return;
    }
  }
  action(status_);
}

const std::shared_ptr<EventState>& ready_state() {
  static const auto* const ready = [] {
    auto* state = new std::shared_ptr<EventState>(std::make_shared<EventState>());
    (*state)->set({});
    return state;
  }();
  return *ready;
}

PJRT_Event* ready_event() {
  static auto* const event = new PJRT_Event{ready_state()};
  return event;
}

PJRT_Event* event_of(const std::shared_ptr<EventState>& state) {
  return state->has_succeeded() ? ready_event() : new PJRT_Event{state};
}

void add_event_functions(PJRT_Api& api) {
  api.PJRT_Event_Destroy = [](PJRT_Event_Destroy_Args* args) -> PJRT_Error* {
    if (args->event != ready_event()) delete args->event;
    return nullptr;
  };
  api.PJRT_Event_IsReady = [](PJRT_Event_IsReady_Args* args) -> PJRT_Error* {
    args->is_ready = args->event->state->is_ready();
    return nullptr;
  };
  api.PJRT_Event_Error = [](PJRT_Event_Error_Args* args) -> PJRT_Error* {
    return args->event->state->status().to_error();
  };
  api.PJRT_Event_Await = [](PJRT_Event_Await_Args* args) {
    // Another thread may destroy the handle while this one waits.
    std::shared_ptr<EventState> state = args->event->state;
    return state->wait().to_error();
  };
  api.PJRT_Event_OnReady = [](PJRT_Event_OnReady_Args* args) -> PJRT_Error* {
    auto callback = args->callback;
    void* user = args->user_arg;
    args->event->state->on_ready([=](const Status& status) { callback(status.to_error(), user); });
    return nullptr;
  };
  api.PJRT_Event_Create = [](PJRT_Event_Create_Args* args) -> PJRT_Error* {
    args->event = new PJRT_Event{std::make_shared<EventState>()};
    return nullptr;
  };
  api.PJRT_Event_Set = [](PJRT_Event_Set_Args* args) -> PJRT_Error* {
    Status status{args->error_code, {}};
    if (args->error_message != nullptr) status.message.assign(args->error_message, args->error_message_size);
    args->event->state->set(std::move(status));
    return nullptr;
  };
}

}  // namespace framedex::mock
