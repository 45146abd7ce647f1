#include "pjrt/live_rules/objects.h"

#include <atomic>
#include <unordered_map>

#include "pjrt/live_rules/fork_safe.h"

namespace framedex::pjrt {
namespace {

struct Object {
  ObjectType type;
  KnownObject known;
  uint64_t references = 1;  // how often it has to be destroyed
};
using Objects = std::unordered_map<const void*, Object>;

std::atomic<bool> has_unseen_calls{false};

ForkSafe<Objects>& all_objects() {
  static ForkSafe<Objects> all;
  return all;
}

// Calls `action` with the known object of this type at the address, if there is one.
template <typename Action>
void with(ObjectType type, const void* address, Action action) {
  all_objects().use([&](Objects& all) {
    auto found = all.find(address);
    if (found != all.end() && found->second.type == type) action(found->second);
  });
}

}  // namespace

const char* name_of(ObjectType type) {
  switch (type) {
    case ObjectType::kClient:
      return "client";
    case ObjectType::kBuffer:
      return "buffer";
    case ObjectType::kEvent:
      return "event";
    case ObjectType::kExecutable:
      return "executable";
    case ObjectType::kLoadedExecutable:
      return "loaded executable";
    case ObjectType::kTransferManager:
      return "transfer manager";
  }
  return "";
}

namespace objects {

KnownObject find(ObjectType type, const void* address) {
  KnownObject known;
  with(type, address, [&](const Object& object) { known = object.known; });
  return known;
}

void create(ObjectType type, const void* address) {
  if (has_unseen_calls.load(std::memory_order_relaxed)) return;
  all_objects().use([&](Objects& all) {
    auto [place, is_new] = all.try_emplace(address, Object{type, {}});
    Object& object = place->second;
    if (is_new) return;
    if (object.type == type && object.known.state != ObjectState::kDestroyed) {
      ++object.references;
    } else {
      object = {type, {}};
    }
  });
}

void remove_content(ObjectType type, const void* address, const char* function) {
  with(type, address, [&](Object& object) {
    if (object.known.state == ObjectState::kUsable) object.known = {ObjectState::kDeleted, function};
  });
}

KnownObject destroy(ObjectType type, const void* address, const char* function) {
  KnownObject before;
  with(type, address, [&](Object& object) {
    before = object.known;
    bool is_last = object.known.state != ObjectState::kDestroyed && --object.references == 0;
    if (is_last) object.known = {ObjectState::kDestroyed, function};
  });
  return before;
}

void forget(const void* address) {
  all_objects().use([&](Objects& all) { all.erase(address); });
}

void forget_all() {
  all_objects().use([](Objects& all) { all.clear(); });
}

void expect_unseen_calls() {
  has_unseen_calls = true;
  forget_all();
}

}  // namespace objects
}  // namespace framedex::pjrt
