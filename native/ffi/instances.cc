#include "ffi/instances.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "ffi/run_functions.h"
#include "ffi/state.h"

namespace framedex::ffi {
namespace {

constexpr std::string_view kCallback = "framedex_callback";

void destroy_instance(void* instance);

// XLA's type id for states that are instances. Registered once per process, at XLA's first query.
XLA_FFI_TypeId instance_type{0};

// Leaked on purpose: executables are destroyed after static destructors.
struct State {
  std::mutex mutex;
  uint64_t last = 0;
  std::map<uint64_t, Instance*> live;
  std::set<std::string> attributes;

  static State& instance() {
    static auto* state = new State;
    return *state;
  }
};

// Returns a text attribute of a custom call; nothing if the call has no text attribute of this name.
std::optional<std::string> text_attribute(const XLA_FFI_CallFrame& frame, std::string_view name) {
  const XLA_FFI_Attrs& attributes = frame.attrs;
  for (int64_t i = 0; i < attributes.size; ++i) {
    if (std::string_view(attributes.names[i]->ptr, attributes.names[i]->len) != name) continue;
    if (attributes.types[i] != XLA_FFI_AttrType_STRING) return std::nullopt;
    const auto& text = *static_cast<const XLA_FFI_ByteSpan*>(attributes.attrs[i]);
    return std::string(text.ptr, text.len);
  }
  return std::nullopt;
}

Instance* create_instance(const Slot& slot, const XLA_FFI_CallFrame& frame) {
  std::string attributes = describe_call(frame).attributes;
  std::optional<std::string> callback = text_attribute(frame, kCallback);
  std::optional<uint32_t> function;
  if (callback && !callback->empty()) function = run_function(*callback, reinterpret_cast<const void*>(slot.handler));
  auto thread = static_cast<uint64_t>(syscall(SYS_gettid));
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  const char* kept = state.attributes.insert(std::move(attributes)).first->c_str();
  auto* instance = new Instance(++state.last, slot.registration->target, thread, kept, callback.has_value(), function);
  state.live.emplace(instance->id, instance);
  return instance;
}

void destroy_instance(void* opaque) {
  auto* instance = static_cast<Instance*>(opaque);
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  state.live.erase(instance->id);
  delete instance;
}

// Maps the address of a handler's own state to its instance. Every run looks one up, so reads take no lock; writes
// happen at compile time. An entry outlives its state: the next state at that address reuses it.
class StateTable {
 public:
  // Returns false if the table is full.
  bool insert(const void* key, Instance* instance) {
    for (size_t probe = 0; probe < kCapacity / 2; ++probe) {
      Entry& entry = entries_[(hash(key) + probe) % kCapacity];
      const void* before = entry.key.load(std::memory_order_acquire);
      if (before != nullptr && before != key) continue;
      if (Instance* old = entry.instance.exchange(instance)) destroy_instance(old);
      entry.key.store(key, std::memory_order_release);
      return true;
    }
    return false;
  }

  Instance* find(const void* key) const {
    if (key == nullptr) return nullptr;
    for (size_t probe = 0; probe < kCapacity / 2; ++probe) {
      const Entry& entry = entries_[(hash(key) + probe) % kCapacity];
      const void* found = entry.key.load(std::memory_order_acquire);
      if (found == key) return entry.instance.load(std::memory_order_acquire);
      if (found == nullptr) return nullptr;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kCapacity = 1 << 14;
  struct Entry {
    std::atomic<const void*> key{nullptr};
    std::atomic<Instance*> instance{nullptr};
  };
  static size_t hash(const void* key) { return reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15 >> 40; }

  Entry entries_[kCapacity];
};
StateTable states;
std::mutex states_mutex;

bool creates_state(const Slot& slot) { return slot.registration->state_type.load(std::memory_order_relaxed) > 0; }

// Returns the state that the handler itself created.
void* own_state(const Slot& slot, const XLA_FFI_CallFrame& frame) {
  XLA_FFI_TypeId type{slot.registration->state_type.load(std::memory_order_relaxed)};
  return type.type_id > 0 ? get_state(frame, &type) : nullptr;
}

XLA_FFI_Metadata& metadata_of(const XLA_FFI_CallFrame& frame) {
  return *reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame.extension_start)->metadata;
}

void register_instance_type(const XLA_FFI_Api& api) {
  static std::once_flag registered;
  std::call_once(registered, [&] { register_type(api, "framedex_instance", destroy_instance, &instance_type); });
}

XLA_FFI_Error* answer_metadata_query(const XLA_FFI_CallFrame& frame) {
  register_instance_type(*frame.api);
  XLA_FFI_Metadata& metadata = metadata_of(frame);
  metadata.api_version.major_version = frame.api->api_version.major_version;
  metadata.api_version.minor_version = frame.api->api_version.minor_version;
  metadata.traits = 0;
  metadata.state_type_id = instance_type;
  return nullptr;
}

// Queries the instantiate stage for its state type, as XLA does at registration. Older XLA versions do not.
int64_t query_state_type(const Slot& slot, const XLA_FFI_Api& api) {
  XLA_FFI_Metadata metadata{};
  metadata.struct_size = XLA_FFI_Metadata_STRUCT_SIZE;
  metadata.api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
  XLA_FFI_Metadata_Extension extension{{XLA_FFI_Metadata_Extension_STRUCT_SIZE, XLA_FFI_Extension_Metadata, nullptr},
                                       &metadata};
  XLA_FFI_CallFrame frame{};
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
  frame.extension_start = &extension.extension_base;
  frame.api = &api;
  frame.stage = slot.stage;
  frame.args.struct_size = XLA_FFI_Args_STRUCT_SIZE;
  frame.rets.struct_size = XLA_FFI_Rets_STRUCT_SIZE;
  frame.attrs.struct_size = XLA_FFI_Attrs_STRUCT_SIZE;
  XLA_FFI_Error* error = slot.handler(&frame);
  if (error == nullptr) return metadata.state_type_id.type_id;
  destroy_error(api, error);
  return 0;
}

// Makes the instance the state of the custom call being instantiated. If that fails, the program continues without an
// instance.
const Instance* set_instance(const Slot& slot, const XLA_FFI_CallFrame& frame) {
  register_instance_type(*frame.api);
  if (instance_type.type_id == 0) return nullptr;
  Instance* instance = create_instance(slot, frame);
  XLA_FFI_Error* error = set_state(frame, &instance_type, instance, destroy_instance);
  if (error == nullptr) return instance;
  destroy_error(*frame.api, error);
  destroy_instance(instance);
  return nullptr;
}

const Instance* add_instance_of_state(const Slot& slot, const XLA_FFI_CallFrame& frame, const void* state) {
  Instance* instance = create_instance(slot, frame);
  bool has_room;
  {
    std::lock_guard lock(states_mutex);
    has_room = states.insert(state, instance);
  }
  if (has_room) return instance;
  destroy_instance(instance);
  return nullptr;
}

}  // namespace

XLA_FFI_Error* instantiate(Slot& slot, XLA_FFI_CallFrame* frame) {
  if (is_metadata_query(*frame)) return answer_metadata_query(*frame);
  set_instance(slot, *frame);
  return nullptr;
}

const Instance* note_instantiation(const Slot& slot, const XLA_FFI_CallFrame& frame) {
  std::atomic<int64_t>& type = slot.registration->state_type;
  if (type.load(std::memory_order_relaxed) == Registration::kNotQueried) type.store(query_state_type(slot, *frame.api));
  if (const void* state = own_state(slot, frame)) return add_instance_of_state(slot, frame, state);
  return slot.registration->has_instances && !creates_state(slot) ? set_instance(slot, frame) : nullptr;
}

Instance* find_running_instance(const Slot& slot, const XLA_FFI_CallFrame& frame) {
  if (frame.ctx == nullptr) return nullptr;
  if (creates_state(slot)) return states.find(own_state(slot, frame));
  if (!slot.registration->has_instances) return nullptr;
  return static_cast<Instance*>(get_state(frame, &instance_type));
}

std::vector<InstanceEntry> instances_after(uint64_t mark) {
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  std::vector<InstanceEntry> entries;
  for (auto entry = state.live.upper_bound(mark); entry != state.live.end(); ++entry) {
    const Instance& instance = *entry->second;
    if (!instance.is_joined) {
      entries.push_back({instance.id, instance.thread, instance.target, instance.attributes});
    }
  }
  return entries;
}

uint64_t last_instance_id() {
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  return state.last;
}

void join(uint64_t id, uint64_t site, const std::string& line, bool is_certain) {
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  auto found = state.live.find(id);
  if (found == state.live.end()) return;
  found->second->is_joined = is_certain;
  found->second->site.store(site, std::memory_order_relaxed);
  found->second->line.store(strdup(line.c_str()),
                            std::memory_order_release);  // never freed: a report reads it without a lock
}

}  // namespace framedex::ffi
