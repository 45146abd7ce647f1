// The objects that clients hold, by address: which of them are destroyed or deleted.
//
// Only the types of objects whose every creation is recorded. What happens unseen makes an object unknown, and unknown
// objects break no rule.
#pragma once

#include <cstdint>

namespace framedex::pjrt {

enum class ObjectType : uint8_t { kClient, kBuffer, kEvent, kExecutable, kLoadedExecutable, kTransferManager };
const char* name_of(ObjectType type);

enum class ObjectState : uint8_t { kUsable, kDeleted, kDestroyed };

// The state of an object when a call was given it, and the function that ended its use, if one did.
struct KnownObject {
  ObjectState state = ObjectState::kUsable;
  const char* ended_by = nullptr;
};

namespace objects {

KnownObject find(ObjectType type, const void* address);
// A function returned the object. If it is known and usable, it has to be destroyed once more.
void create(ObjectType type, const void* address);
void remove_content(ObjectType type, const void* address, const char* function);
// Returns the state before. Call this before the plug-in's function: another thread may get the address afterwards.
KnownObject destroy(ObjectType type, const void* address, const char* function);
void forget(const void* address);
// Call this after a call that was not recorded, or whose objects are not all known.
void forget_all();
// Call this if the plug-in has functions that are not recorded: from then on no object is known.
void expect_unseen_calls();

}  // namespace objects
}  // namespace framedex::pjrt
