// The objects of clients by address, and whether they are destroyed or deleted.
//
// Only for types whose every creation is recorded. After an unrecorded call objects become unknown, and unknown objects
// break no rule.
#pragma once

#include <cstdint>

namespace framedex::pjrt {

enum class ObjectType : uint8_t { kClient, kBuffer, kEvent, kExecutable, kLoadedExecutable, kTransferManager };
const char* name_of(ObjectType type);

enum class ObjectState : uint8_t { kUsable, kDeleted, kDestroyed };

// The state of an object when it was passed to a call, and the function that deleted or destroyed it, if one did.
struct KnownObject {
  ObjectState state = ObjectState::kUsable;
  const char* ended_by = nullptr;
};

namespace objects {

KnownObject find(ObjectType type, const void* address);
// Records that a function returned the object. If it is known and usable, it must be destroyed once more.
void create(ObjectType type, const void* address);
void remove_content(ObjectType type, const void* address, const char* function);
// Marks the object as destroyed, and returns its state before. Call this before the plug-in's function, because another
// thread may receive the address afterwards.
KnownObject destroy(ObjectType type, const void* address, const char* function);
void forget(const void* address);
// Forgets all objects. Call this after an unrecorded call, or after one with unknown objects.
void forget_all();
// Stops tracking objects, because the plug-in has functions that are not recorded.
void expect_unseen_calls();

}  // namespace objects
}  // namespace framedex::pjrt
