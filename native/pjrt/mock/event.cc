#include "pjrt/mock/event.h"

#include <utility>

#include "pjrt/mock/error.h"

namespace framedex::mock {

PJRT_Error* Status::to_error() const { return code == PJRT_Error_Code_OK ? nullptr : make_error(code, message); }

void EventState::set(Status status) {
  std::vector<std::function<void(const Status&)>> actions;
  {
    std::lock_guard lock(mutex_);
    if (ready_) return;
    ready_ = true;
    status_ = status;
    actions.swap(actions_);
  }
  became_ready_.notify_all();
  for (const auto& action : actions) action(status);
}

bool EventState::is_ready() const {
  std::lock_guard lock(mutex_);
  return ready_;
}

Status EventState::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

Status EventState::wait() {
  std::unique_lock lock(mutex_);
  became_ready_.wait(lock, [this] { return ready_; });
  return status_;
}

void EventState::on_ready(std::function<void(const Status&)> action) {
  {
    std::lock_guard lock(mutex_);
    if (!ready_) {
      actions_.push_back(std::move(action));
      return;
    }
  }
  action(status_);
}

PJRT_Event* ready_event() {
  auto state = std::make_shared<EventState>();
  state->set({});
  return new PJRT_Event{std::move(state)};
}

void add_event_functions(PJRT_Api& api) {
  api.PJRT_Event_Destroy = [](PJRT_Event_Destroy_Args* args) -> PJRT_Error* {
    delete args->event;
    return nullptr;
  };
  api.PJRT_Event_IsReady = [](PJRT_Event_IsReady_Args* args) -> PJRT_Error* {
    args->is_ready = args->event->state->is_ready();
    return nullptr;
  };
  api.PJRT_Event_Error = [](PJRT_Event_Error_Args* args) { return args->event->state->status().to_error(); };
  api.PJRT_Event_Await = [](PJRT_Event_Await_Args* args) {
    // The handle may be destroyed by another thread while this one waits.
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
